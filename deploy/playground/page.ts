/**
 * The playground's page and what it loads: one document, one style sheet and small modules, all below `/__mayfly/`.
 *
 * Deployments do not import this. The page is the same for every server; its script fills it.
 */
import { readFileSync } from 'node:fs'
// A namespace import: Node 20 has no stripTypeScriptTypes, and does not run sources that need it.
import nodeModule from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Html, html } from '../../src/http/html.ts'
import { STYLE } from './style.ts'

/** All paths of the playground are below it. */
export const PREFIX = '/__mayfly/'

export interface PlaygroundPage {
  /** The path that the page sends its MCP messages to. */
  readonly path: string
  /** For requests to the local process. Omitted if the page's URL has it; the page then asks for the server's URL, too. */
  readonly token?: string
}

export interface Asset {
  readonly type: string
  readonly body: string
}

/** `.ts` from source, `.js` from dist/. */
const EXTENSION = extname(import.meta.url)

const MODULES = [
  'argument-form',
  'catalogue',
  'client',
  'completion',
  'dom',
  'exchange',
  'form',
  'json',
  'local',
  'main',
  'oauth',
  'panels',
  'param-headers',
  'questions',
  'result',
  'schema',
  'uri-template',
  'wire',
]

/** Modules of `src` that they share, by name; they import nothing. */
const SHARED: { readonly [name: string]: string } = {
  'error-text': '../../src/definition',
  'event-stream': '../../src/protocol',
}
const SHARED_IMPORT = /(?<=from ')(?:\.\.\/)+src\/\w+(?=\/[\w-]+\.[jt]s')/g

const DOC_COMMENT = /^ *\/\*\*[\s\S]*?\*\/\n/gm

/** Paths below `PREFIX` that the page loads. */
export const ASSETS: readonly string[] = [
  'style.css',
  ...[...MODULES, ...Object.keys(SHARED)].map((name) => `${name}${EXTENSION}`),
]

/** One of `ASSETS`. */
export function readAsset(name: string): Asset {
  if (name === 'style.css') return { type: 'text/css; charset=utf-8', body: STYLE }
  const folder = SHARED[name.slice(0, -EXTENSION.length)] ?? './browser'
  const file = fileURLToPath(new URL(`${folder}/${name}`, import.meta.url))
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

export function renderPlayground({ path, token }: PlaygroundPage): string {
  const written = JSON.stringify({ path, token })
  const [can, era] = [capability, radio]
  return html`<!doctype html>
<html lang=en>
<meta charset=utf-8>
<meta name=viewport content="width=device-width,initial-scale=1">
<meta name=mayfly content="${written}">
<title>Mayfly playground</title>
<link rel=icon href="data:,">
<link rel=stylesheet href="${PREFIX}style.css">
<script type=module src="${PREFIX}main${EXTENSION}"></script>
<body>
<a class=skip href="#work">Skip to the form</a>
<header>
<div><h1>Mayfly playground</h1><code id=endpoint></code><div id=server></div></div>
<form id=settings novalidate aria-label="How this client connects">
<fieldset><legend>Era</legend>${[era('modern', '2026-07-28', true), era('legacy', '2025-11-25', false)]}</fieldset>
<fieldset><legend>This client can</legend>${[
    can('form', 'answer forms'),
    can('url', 'open pages'),
    can('sampling', 'sample a model'),
    can('roots', 'list roots'),
  ]}</fieldset>
<details id=authorization><summary>Authorization</summary>
<div><label for=token>Access token</label><input id=token type=password autocomplete=off spellcheck=false></div>
<div><label for=client-id>Client ID, where clients cannot register</label><input id=client-id autocomplete=off spellcheck=false></div>
<div><button type=button id=sign-in>Sign in with OAuth</button></div>
<p id=sign-in-problem class=bad role=alert></p>
</details>
<button type=submit>Reconnect</button>
</form>
<p id=status class=soft role=status></p>
</header>
<main>
<nav id=catalogue class=card aria-label="What the server offers"></nav>
<section id=work class=card aria-label="Try it" tabindex=-1></section>
<section class=card aria-labelledby=wire-heading><h2 id=wire-heading>The wire</h2><button type=button id=clear>Clear</button><ol id=exchanges></ol></section>
</main>
</html>`.markup
}

function capability(name: string, label: string): Html {
  return html`<label class=check><input type=checkbox id="can-${name}" checked>${label}</label>`
}

function radio(name: string, version: string, isChecked: boolean): Html {
  return html`<label class=check><input type=radio name=era id="era-${name}" value="${name}"${isChecked && html` checked`}>${name}, ${version}</label>`
}
