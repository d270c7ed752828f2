/**
 * The pages of the playground, one for a server's offers and one for its tasks, and what they load: a style sheet and small modules, all
 * below `/__mayfly/`.
 *
 * Deployments do not import this. The pages are the same for every server; their scripts fill them.
 */
import { readFileSync } from 'node:fs'
// A namespace import: Node 20 has no stripTypeScriptTypes, and does not run sources that need it.
import nodeModule from 'node:module'
import { type Html, html } from '../../src/http/html.ts'
import { TASK_STATUSES } from '../../src/tasks/record.ts'
import { EXTENSION, ownModule } from '../project/own-module.ts'
import { STYLE } from './style.ts'

/** All paths of the playground are below it. */
export const PREFIX = '/__mayfly/'

export interface PlaygroundPage {
  /** The path that the page sends its MCP messages to. */
  readonly path: string
  /** For requests to the local process. Omitted if the page's URL has it; the page then asks for the server's URL, too. */
  readonly token?: string
  /** The path of the task endpoint, if the project declares it. */
  readonly tasksPath?: string | undefined
  /** How often `mayfly dev` has replaced the server. Omitted if that is not known. */
  readonly reloads?: number | undefined
}

export interface Asset {
  readonly type: string
  readonly body: string
}

/** The scripts of the pages. As published, each is one module with all that it imports (scripts/build.mjs). */
const PAGES = ['main', 'tasks']

/** As source, with the modules of the pages. */
const MODULES = [
  'argument-form',
  'bar',
  'call-actions',
  'call-text',
  'catalogue',
  'client',
  'completion',
  'connection',
  'copy-button',
  'deliveries',
  'dom',
  'exchange',
  'form',
  'history',
  'json',
  'json-view',
  'kept',
  'keys',
  'local',
  'main',
  'measures',
  'oauth',
  'output-check',
  'panels',
  'param-headers',
  'questions',
  'refresh',
  'reloads',
  'result',
  'run',
  'running',
  'schema',
  'server-errors',
  'sign-in-steps',
  'tab-store',
  'task-details',
  'task-endpoint',
  'task-list',
  'task-run',
  'task-steps',
  'task-times',
  'tasks',
  'trouble',
  'updates',
  'uri-template',
  'wire',
  'wire-file',
]

/** Modules of `src` that they share, by name; they import only each other. */
const SHARED: { readonly [name: string]: string } = {
  'connect-snippets': 'src/http',
  'error-text': 'src/definition',
  'event-stream': 'src/protocol',
  'is-object': 'src/definition',
  'output-schema': 'src/client',
}
const SHARED_IMPORT = /(?<=from ')(?:\.\.\/)+(?:src\/)?\w+(?=\/[\w-]+\.ts')/g

const DOC_COMMENT = /^ *\/\*\*[\s\S]*?\*\/\n/gm

/** Paths below `PREFIX` that the page loads. */
export const ASSETS: readonly string[] = [
  'style.css',
  ...(EXTENSION === '.js' ? PAGES : [...MODULES, ...Object.keys(SHARED)]).map((name) => name + EXTENSION),
]

/** One of `ASSETS`. */
export function readAsset(name: string): Asset {
  if (name === 'style.css') return { type: 'text/css; charset=utf-8', body: STYLE }
  const module = name.slice(0, -EXTENSION.length)
  const file = ownModule(`${SHARED[module] ?? 'deploy/playground/browser'}/${module}`)
  const code = readFileSync(file, 'utf8').replaceAll(SHARED_IMPORT, '.').replaceAll(DOC_COMMENT, '')
  const body = EXTENSION === '.ts' ? nodeModule.stripTypeScriptTypes(code) : code
  return { type: 'text/javascript; charset=utf-8', body }
}

/**
 * Allows scripts and styles only from below `PREFIX`, requests only to the page's own origin, and no framing. With Trusted Types,
 * supporting browsers refuse to turn text into markup or code.
 */
export function playgroundHeaders(origin: string): Readonly<Record<string, string>> {
  const policy = [
    `default-src 'none'`,
    `script-src ${origin}${PREFIX}`,
    `style-src ${origin}${PREFIX}`,
    `connect-src ${origin}`,
    'img-src data:',
    'media-src data:',
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
    `require-trusted-types-for 'script'`,
    `trusted-types 'none'`,
  ]
  return {
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  }
}

function render(page: PlaygroundPage, title: string, script: string, body: Html): string {
  return html`<!doctype html>
<html lang=en>
<meta charset=utf-8>
<meta name=viewport content="width=device-width,initial-scale=1">
<meta name=mayfly content="${JSON.stringify(page)}">
<title>${title}</title>
<link rel=icon href="data:,">
<link rel=stylesheet href="${PREFIX}style.css">
<script type=module src="${PREFIX}${script}${EXTENSION}"></script>
${body}
</html>`.markup
}

const MARK = html`<svg width=22 height=22 viewBox="0 0 24 24" fill=none stroke=currentColor stroke-width=1.4 stroke-linecap=round aria-hidden=true><path d="M9 15C7 10 9 5 15 2c1 5-1 10-6 13ZM4 15c3-1 7 0 10 2m0 0 7-1m-7 1 7 2m-7-2 5 4M6 15l-2 4m5-3v4"/></svg>`

/**
 * The frame of the page; the scripts fill it. `#rail` lists what the server offers, `#work` shows the chosen one with its form, run bar
 * and result, `#wire` the messages. `#notices` is for what a server says unasked. Below 45rem, `data-tab` of `main` is what is shown.
 */
export function renderPlayground(page: PlaygroundPage): string {
  const [can, era] = [capability, radio]
  const body = html`<body class=playground data-state=connecting>
<a class=skip href="#work">Skip to the form</a>
<header>
${MARK}<h1 id=server>Mayfly playground</h1>
<span id=address><code id=endpoint></code><button type=button id=copy-url class=small aria-label="Copy the URL of the server" hidden>Copy</button></span>
<span id=state><span class=dot aria-hidden=true></span><span id=status role=status></span> <span id=latency class="soft mono"></span></span>
<button type=button id=more aria-expanded=false aria-controls=settings>Settings</button>
<form id=settings novalidate aria-label="How this client connects">
<fieldset class=seg><legend class=away>Era</legend>${[era('auto', 'Auto', true), era('modern', '2026-07-28', false), era('legacy', '2025-11-25', false)]}</fieldset>
<details class=menu name=menu><summary id=client-summary>Client: all 5</summary><div class=panel role=group aria-labelledby=can><strong id=can>This client can</strong>${[
    can('form', 'answer forms'),
    can('url', 'open pages'),
    can('sampling', 'sample a model'),
    can('roots', 'list roots'),
    can('tasks', 'follow tasks'),
  ]}<p class=hint>Take one away, and call again: the server says what it does without it.</p></div></details>
<details class=menu name=menu id=authorization><summary id=token-summary>No token</summary><div class=panel>
<div><label for=token>Access token</label><input id=token type=password autocomplete=off spellcheck=false></div>
<div><label for=client-id>Client ID, where clients cannot register</label><input id=client-id autocomplete=off spellcheck=false></div>
<div class=buttons><button type=submit>Use the token</button><button type=button id=sign-in>Sign in with OAuth</button></div>
<p id=sign-in-problem class=bad role=alert></p>
<ol id=sign-in-steps aria-label="Steps of the sign-in"></ol>
</div></details>
<details class=menu name=menu id=add-to-client><summary>Add to client</summary><div class=panel id=snippets></div></details>
<details class=menu name=menu id=about><summary>About</summary><div class=panel id=description></div></details>
</form>
<p id=announce class=away aria-live=polite></p>
</header>
<div id=refused role=alert hidden></div>
<nav id=tabs aria-label="Parts of the page"><button type=button data-go=rail aria-current=true>Tools</button><button type=button data-go=work>Form</button><button type=button data-go=wire>Wire</button></nav>
<main data-tab=rail>
<nav id=rail aria-label="What the server offers"><div id=catalogue></div><div id=listening></div><a id=tasks target=_blank rel="noopener noreferrer" hidden>The tasks of this server</a></nav>
<section id=work aria-label="Try it" tabindex=-1></section>
<section id=wire aria-labelledby=wire-heading><div id=wire-bar><h2 id=wire-heading>The wire</h2><span id=wire-count class=soft></span><div id=wire-actions><button type=button id=clear>Clear</button></div></div><div id=notices></div><ol id=exchanges></ol></section>
</main>`
  return render(page, 'Mayfly playground', 'main', body)
}

/** Shows the tasks of a server through `createTaskAdmin`. */
export function renderTasks(page: PlaygroundPage): string {
  const body = html`<body>
<a class=skip href="#list">Skip to the tasks</a>
<header>
<div><h1>Tasks</h1><code id=endpoint></code></div>
<form id=settings novalidate aria-label="Which tasks">
<fieldset class=inline><legend>Endpoint</legend>
<div><label for=path>Path</label><input id=path autocomplete=off spellcheck=false></div>
<div><label for=secret>Secret of createTaskAdmin</label><input id=secret type=password autocomplete=off spellcheck=false></div>
</fieldset>
<fieldset class=inline><legend>Filter</legend>
<div><label for=task-status>Status</label><select id=task-status><option value="">any</option>${TASK_STATUSES.map((name) => html`<option>${name}</option>`)}</select></div>
<div><label for=tool>Tool</label><input id=tool autocomplete=off spellcheck=false></div>
<div><label for=age>Created</label><select id=age><option value="">at any time</option>${AGES.map(([value, label]) => html`<option value="${value}">${label}</option>`)}</select></div>
</fieldset>
<button type=submit class=main>Show tasks</button>
</form>
<form id=by-id novalidate><div class=row><div><label for=task-id>Task ID</label><input id=task-id autocomplete=off spellcheck=false></div><button type=submit>Open</button></div></form>
<p id=status class=soft role=status></p>
</header>
<main class=tasks>
<section id=list class=card aria-label="Tasks" tabindex=-1></section>
<section id=task class=card aria-label="The task"></section>
</main>`
  return render(page, 'Tasks – Mayfly playground', 'tasks', body)
}

/** Query parameters of the endpoint. */
const AGES = [
  ['youngerThanMs=600000', 'in the last 10 minutes'],
  ['youngerThanMs=3600000', 'in the last hour'],
  ['youngerThanMs=86400000', 'in the last day'],
  ['olderThanMs=600000', 'more than 10 minutes ago'],
  ['olderThanMs=3600000', 'more than an hour ago'],
  ['olderThanMs=86400000', 'more than a day ago'],
] as const

function capability(name: string, label: string): Html {
  return html`<label class=check><input type=checkbox id="can-${name}" checked>${label}</label>`
}

function radio(name: string, label: string, isChecked: boolean): Html {
  return html`<label><input type=radio name=era id="era-${name}" value="${name}"${isChecked && html` checked`}><span id="era-${name}-label">${label}</span></label>`
}
