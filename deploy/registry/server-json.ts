/** Creates a `server.json` for the MCP registry from a server's description, its package.json and its URL. */
import { present } from '../../src/definition/present.ts'
import type { Identity } from '../doctor/describe.ts'
import { MAX_TEXT, SCHEMA_URL } from './schema.ts'

export interface Given {
  /** The deployed MCP endpoint. */
  readonly url: string | undefined
  /** The name in the registry: `io.github.user/shop`. */
  readonly name: string | undefined
  readonly description: string | undefined
  /** Headers that a client must send, each a secret. */
  readonly headers: readonly string[]
}

/** The parts of package.json that are used. */
export interface Manifest {
  readonly mcpName?: unknown
  readonly description?: unknown
  readonly homepage?: unknown
  readonly repository?: unknown
}

export interface Made {
  readonly document: { readonly [member: string]: unknown }
  /** What was omitted and why, one line each. */
  readonly notes: readonly string[]
}

/** `earlier`: the file that is replaced; its other members are kept. */
export function makeServerJson(
  identity: Identity,
  manifest: Manifest,
  given: Given,
  earlier: { readonly [member: string]: unknown } = {},
): Made {
  const named = identity.repository ?? manifest.repository ?? undefined
  const repository = repositoryOf(named)
  const icons = (identity.icons ?? []).filter(({ src }) => /^https:\/\/\S{1,247}$/.test(src))
  const website = identity.websiteUrl ?? homepageOf(manifest)
  const title = identity.title ?? identity.name
  const description = given.description ?? identity.description ?? textOf(manifest.description)
  const members = {
    $schema: SCHEMA_URL,
    name:
      given.name ??
      textOf(manifest.mcpName) ??
      textOf(earlier.name) ??
      nameOf(identity, repository, given.url),
    title: title.length <= MAX_TEXT ? title : undefined,
    description,
    version: identity.version,
    websiteUrl: isHttps(website) ? website : undefined,
    repository,
    icons: icons.length > 0 ? icons : undefined,
    remotes:
      given.url === undefined ? identity.remotes : remotesWith(given.url, given.headers, earlier.remotes),
    packages: identity.packages,
  }
  const made = present(members)
  const kept = Object.entries(earlier).filter(([member]) => !Object.hasOwn(made, member))
  const document = { ...made, ...Object.fromEntries(kept) }
  return {
    document,
    notes: notesOf(identity, icons.length, website, named !== undefined && repository === undefined),
  }
}

function notesOf(
  { icons = [] }: Identity,
  taken: number,
  website: unknown,
  isRepositoryLost: boolean,
): string[] {
  return [
    ...(taken < icons.length
      ? ['icons without an https URL are left out: the registry accepts no others']
      : []),
    ...(typeof website === 'string' && !isHttps(website)
      ? ['websiteUrl is left out: the registry accepts only https URLs']
      : []),
    ...(isRepositoryLost
      ? [
          'repository is left out: the registry accepts only those of github.com and gitlab.com, as in https://github.com/user/shop',
        ]
      : []),
  ]
}

/** Keeps the file's other remotes and, if no headers are given, its headers for this URL. */
function remotesWith(url: string, headers: readonly string[], earlier: unknown): readonly object[] {
  const known = Array.isArray(earlier) ? (earlier as { url?: unknown }[]) : []
  const isSame = (remote: { url?: unknown } | null): boolean => remote?.url === url
  if (known.some(isSame) && headers.length === 0) return known
  const secrets = headers.map((name) => ({ name, isRequired: true, isSecret: true }))
  const own = { type: 'streamable-http', url, ...(secrets.length > 0 && { headers: secrets }) }
  return known.some(isSame) ? known.map((remote) => (isSame(remote) ? own : remote)) : [own, ...known]
}

/** `https://github.com/user/shop` publishes as `io.github.user/…`, `https://mcp.example.com` as `com.example.mcp/…`. */
function nameOf(
  { id }: Identity,
  repository: { url: string; source: string } | undefined,
  url: string | undefined,
): string | undefined {
  const owner = repository?.source === 'github' ? new URL(repository.url).pathname.split('/')[1] : undefined
  const host = url !== undefined && URL.canParse(url) ? new URL(url).hostname : undefined
  const namespace = owner === undefined ? host?.split('.').reverse().join('.') : `io.github.${owner}`
  return namespace === undefined ? undefined : `${namespace}/${id.replaceAll(/[^\w.-]+/g, '-')}`
}

/** `gitlab:group/sub/shop`, as npm allows it. Without a host it is on GitHub, whose owners have no dots. */
const SHORT = /^(?:(gitlab):|(?:github:)?(?=[\w-]+\/[^/]+$))([\w./-]+)$/
/** A URL of a browser or of git, including `git@github.com:user/shop.git`. Drops a user or a secret before the host. */
const LONG =
  /^(?:(?:git\+)?(?:https?|ssh|git):\/\/)?(?:[^@/]*@)?(?:www\.)?(github|gitlab)\.com(?::\d+(?=\/[^/]+\/[^/]))?[/:]([\w./-]+)$/i

/** From a string, from npm's object, or from the server's own configuration. */
function repositoryOf(
  given: unknown,
): { url: string; source: string; id?: string; subfolder?: string } | undefined {
  const { url, id, directory } = (typeof given === 'string' ? { url: given } : (given ?? {})) as {
    url?: unknown
    id?: string
    directory?: string
  }
  if (typeof url !== 'string') return undefined
  // A branch, a heading or a tab of the page.
  const [bare = ''] = url.trim().split(/[?#]/)
  const [, host = 'github', rest = ''] = LONG.exec(bare) ?? SHORT.exec(bare) ?? []
  const source = host.toLowerCase()
  const path = pathIn(source, rest)
  if (path === undefined) return undefined
  return {
    url: `https://${source}.com/${path}`,
    source,
    ...(id !== undefined && { id }),
    ...(directory !== undefined && { subfolder: directory }),
  }
}

/** `user/shop` of `user/shop/tree/main`, `group/sub/shop` of `group/sub/shop/-/tree/main`: only GitLab has nested groups. */
function pathIn(source: string, rest: string): string | undefined {
  const parts = rest.split('/').filter((part) => part !== '')
  const end = source === 'github' ? 2 : parts.indexOf('-')
  const path = parts.slice(0, end < 0 ? undefined : end).map((part) => part.replace(/\.git$/, ''))
  return path.length < 2 || path.some((part) => /^\.{0,2}$/.test(part)) ? undefined : path.join('/')
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** npm's own default is the repository's page. */
function homepageOf({ homepage }: Manifest): string | undefined {
  return isHttps(homepage) && !homepage.includes('#readme') ? homepage : undefined
}

const isHttps = (value: unknown): value is string => typeof value === 'string' && value.startsWith('https://')
