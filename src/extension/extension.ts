/** `extension`: what a server serves beyond MCP (SEP-2133). */
import type { Era } from '../definition/context.ts'
import { isObject } from '../definition/is-object.ts'
import type { AnyTool } from '../definition/tool.ts'
import { checkToolMembers } from '../definition/tool.ts'
import { checkToolShape } from '../definition/tool-mistakes.ts'
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import {
  type AnswerRoute,
  type DeclaredFor,
  EXTENSION_URI,
  type Extension,
  type ExtensionHost,
  type ExtensionParts,
  type RouteContext,
} from '../request/extension.ts'
import { createChanges } from './changes.ts'
import { joinExtensions } from './join.ts'
import { checkEras, type Method, type MethodOwner, toServed } from './method.ts'
import { checkCapability, checkId, checkMethodName, checkNotificationName } from './names.ts'

/** The options of `extension`. */
export interface ExtensionConfig<Change extends string = string> {
  /** Your domain reversed, `/` and a name: `com.example/skills`. A breaking change needs a new one. */
  id: string
  /** What `server/discover` and `initialize` say of it; a function that returns undefined declares nothing to that request. Default `{}`. */
  settings?: object | ((request: DeclaredFor) => object | undefined)
  /** Another name in the capabilities for the same settings, where clients of an earlier text look. Default: none. */
  alsoDeclaredAs?: string
  /** The eras in which it is declared and served. Default: both. */
  eras?: readonly Era[]
  /**
   * `required`: a client that did not declare the extension gets `-32021` for each of its methods (MCP 2026-07-28, "Per-request protocol
   * fields"). `optional`: it is served. Default `required`.
   */
  declaration?: 'required' | 'optional'
  /** Its methods by name. Default: none. */
  methods?: { readonly [name: string]: Method }
  /** The notifications that its streams send. Default: none. */
  notifications?: readonly string[]
  /**
   * Members of the filter of `subscriptions/listen`, each with the notification that follows from `notifyChanged`:
   * `{ skillsListChanged: 'notifications/skills/list_changed' }`. For modern clients, on a server with a bus. Default: none.
   */
  changes?: { readonly [name in Change]: string }
  /** Tools that it adds to the server. Default: none. */
  tools?: { readonly [name: string]: AnyTool }
  /** Its name on the server, as in `server.skills`, and of an option of `MCPServer` that takes it. Default: none. */
  name?: string
  /** What `server.<name>` is. Default: the extension. */
  api?: object
  /**
   * Returns what answers a request for a path beside the endpoint, such as a webhook; undefined for any other request. Looks at the URL and
   * the headers only. The answer runs after the checks of hosts and limits, has 20 seconds and a body of up to 64 KiB. It must know its
   * callers itself: `auth` and `Origin` are not checked.
   */
  serve?: (request: Request, context: RouteContext) => AnswerRoute | undefined
  /** What an operator must set in `env`, in one line, for `mayfly doctor`. Default: nothing. */
  faultIn?: (env: unknown) => string | undefined
  /** Called once, by the server that takes it. */
  attach?: (host: ExtensionHost) => void
  /** Called when the server closes. */
  close?: () => void
}

/** What `extension` returns. */
export interface OwnExtension<Change extends string = string> extends Extension {
  /**
   * Tells the clients that listen to it of a change. Resolves when the bus has it; errors of the bus are reported.
   *
   * @throws TypeError before a server has taken the extension, and for a name that is not in `changes`.
   */
  notifyChanged(change: Change): Promise<void>
}

const OPTIONS: Names<ExtensionConfig> = {
  id: 'string',
  settings: 1,
  alsoDeclaredAs: 'string',
  eras: 'strings',
  declaration: { required: 1, optional: 1 },
  methods: 'object',
  notifications: 'strings',
  changes: 'object',
  tools: 'object',
  name: 'string',
  api: 'object',
  serve: 'function',
  faultIn: 'function',
  attach: 'function',
  close: 'function',
}

/**
 * An extension of MCP, for the `extensions` of one `MCPServer`: it is declared to clients, and each of its methods passes the same checks,
 * limits and logs as those of MCP.
 *
 * ```ts
 * extension({ id: 'com.example/forecast', methods: { 'forecast/get': createMethod({ … }) } })
 * ```
 *
 * @throws TypeError for an unknown or invalid option, and for a name that is reserved for MCP.
 */
export function extension<const Change extends string = never>(
  config: ExtensionConfig<Change>,
): OwnExtension<Change> {
  requireOptions('extension', config, OPTIONS, 'id')
  const { id, eras = ['modern', 'legacy'], declaration = 'required', notifications = [], name } = config
  const { settings = {}, tools = {}, alsoDeclaredAs } = config
  checkId(id)
  checkEras(`extension "${id}"`, eras)
  if (typeof settings !== 'function' && !isObject(settings))
    throw new TypeError(`"settings" of extension "${id}" must be an object, or a function that returns one.`)
  if (alsoDeclaredAs !== undefined) checkCapability(id, alsoDeclaredAs)
  if (name !== undefined && !/^[a-z][a-zA-Z0-9]*$/.test(name))
    throw new TypeError(`"${name}" of extension "${id}" is not a name, such as skills.`)
  for (const one of notifications) checkNotificationName(id, one)
  for (const [tool, value] of Object.entries(tools)) {
    checkToolShape(tool, value)
    checkToolMembers(tool, value)
  }

  let host: ExtensionHost | undefined
  const report = (error: unknown): void => host?.options().reportError(error, { extension: id })
  const owner: MethodOwner = { id, eras, declaration, notifications, report }
  const changes = createChanges(id, config.changes ?? {}, declaration)
  const parts: ExtensionParts = {
    alsoDeclaredAs,
    settings(request) {
      if (!eras.includes(request.era)) return undefined
      const given =
        typeof settings === 'function' ? (settings as (request: DeclaredFor) => unknown)(request) : settings
      if (given !== undefined && !isObject(given))
        throw new TypeError(`"settings" of extension "${id}" returned no object.`)
      return given
    },
    methods: new Map(
      Object.entries(config.methods ?? {}).map(([method, given]) => {
        checkMethodName(id, method)
        if (given?.options === undefined)
          throw new TypeError(`Method "${method}" of extension "${id}" must be created by createMethod.`)
        return [method, toServed(method, given, owner)]
      }),
    ),
    attach(given) {
      if (host !== undefined)
        throw new TypeError(`Extension "${id}" belongs to another server: create one for each server.`)
      host = given
      for (const [tool, value] of Object.entries(tools)) {
        if (given.tools.has(tool))
          throw new TypeError(`Tool "${tool}" of extension "${id}" is already defined.`)
        given.tools.set(tool, value)
      }
      config.attach?.(given)
    },
    ...changes,
    facts: (env) => {
      const fault = config.faultIn?.(env)
      return fault === undefined ? {} : { extensionFaults: [`${id}: ${fault}`] }
    },
    serve: config.serve,
    close: config.close,
  }
  return {
    id,
    name,
    api: config.api,
    parts,
    join: joinExtensions,
    async notifyChanged(change) {
      if (!Object.hasOwn(config.changes ?? {}, change))
        throw new TypeError(`"${change}" is not in the "changes" of extension "${id}".`)
      if (host === undefined)
        throw new TypeError(`Extension "${id}" does not belong to a server: pass it in "extensions".`)
      await host.options().publish({ type: 'resourceUpdated', uri: `${EXTENSION_URI}${id}:${change}` })
    },
  }
}
