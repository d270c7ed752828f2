/**
 * The landing page: shown to people who open an MCP server's URL in a browser.
 *
 * `renderPage` returns the whole document; `PAGE_CSP` is its Content-Security-Policy. It has one inline style and one inline script
 * (copy buttons), both pinned by hash; it fetches only the server's icon.
 */
import { connectSnippets, type SnippetBlock, toLiteralUrl } from './connect-snippets.ts'
import { type Html, html, raw } from './html.ts'

/** What the page shows. Every string is treated as untrusted text. */
export interface PageModel {
  name: string
  title?: string
  version: string
  description?: string
  instructions?: string
  /** Linked if http(s), otherwise omitted. */
  websiteUrl?: string
  /** Shown if https: or data:image; otherwise the name's initial is shown. */
  icon?: string
  /** Absolute URL of the MCP endpoint. */
  endpoint: string
  tools: {
    name: string
    title?: string
    description?: string
    readOnly?: boolean
    destructive?: boolean
    parameters: { name: string; type: string; required: boolean; description?: string }[]
  }[]
  prompts: {
    name: string
    title?: string
    description?: string
    arguments: { name: string; required?: boolean; description?: string }[]
  }[]
  resources: { uri: string; name?: string; title?: string; description?: string; mimeType?: string }[]
  resourceTemplates: { uriTemplate: string; name?: string; description?: string }[]
  protocolVersions: string[]
}

const STYLE = `*{margin:0}
:root{color-scheme:light dark;--bg:light-dark(#f3f6f4,#0c1210);--card:light-dark(#fff,#151c19);--soft:light-dark(#565,#9a9);--key:light-dark(#064,#6da);--line:1px solid #8883}
body{background:linear-gradient(#0a62,#0000 16rem)var(--bg);color:light-dark(#122,#eee);font:16px/1.5 system-ui;overflow-wrap:anywhere}
p,dd,pre{white-space:pre-wrap}
main{max-width:70rem;margin:auto;padding:3rem 5vw;display:grid;gap:2.5rem 3rem}
h1{font-size:2rem;line-height:1.2}
h2{font-size:1.25rem}
h2,dd{margin-bottom:.5rem}
section{margin-bottom:2.5rem}
a,h3 code,button{color:var(--key)}
code,pre{font-family:ui-monospace,Consolas,monospace;font-size:.875rem;unicode-bidi:isolate}
h3,summary{font-size:1rem;font-weight:600}
small,dd,mark,.soft{color:var(--soft);font-size:.875rem;font-weight:400}
mark{background:0;border:1px solid;border-radius:1rem;padding:0 .5rem}
.bad{color:light-dark(#a21,#f98)}
.icon{height:4rem;max-width:100%;border-radius:1rem;margin-bottom:1rem}
b.icon{display:grid;width:4rem;place-items:center;font-size:2rem;color:var(--bg);background:var(--key)}
.card{background:var(--card);border:var(--line);border-radius:1rem}
.card>*{padding:1rem 1.25rem}
.card>*+*{border-top:var(--line)}
summary,button{cursor:pointer}
summary~*,input~*,p,p~details{margin-top:.5rem}
dl{padding-left:1rem;border-left:var(--line)}
.code{display:grid;grid-template:auto/1fr auto;gap:.5rem;align-items:center}
pre{grid-column:1/3;font-size:.8125rem;background:var(--bg);border-radius:.5rem;padding:.75rem}
button,input,aside a{font:inherit;font-size:.75rem;background:var(--card);border:var(--line);border-radius:.5rem;padding:.25rem .5rem}
output{position:fixed;top:-9rem}
@media(scripting:none){input{display:none}}
@media(min-width:64rem){main{grid-template:auto 1fr/1fr 30rem}aside{grid-area:1/2/3}}`

// The only input is the filter, beside its list. The text is also selected: without a clipboard (plain http) Ctrl+C still works.
const SCRIPT = `oninput=e=>{let b=e.target,t=b.nextElementSibling;for(let a of t.children)a.hidden=!a.textContent.toLowerCase().includes(b.value.toLowerCase())};onclick=e=>{let b=e.target,t=b.nextElementSibling;if(b.type=='submit'){getSelection().selectAllChildren(t);navigator.clipboard?.writeText(t.textContent).then(()=>{b.textContent=o.textContent='Copied';setTimeout(()=>{b.textContent='Copy';o.textContent=''},2e3)})}}`

/** The page's Content-Security-Policy: the hashes of STYLE and SCRIPT, recomputed by a unit test. */
export const PAGE_CSP =
  "default-src 'none'; style-src 'sha256-zNHBAxjUU1G1h4PxX6z9gxmoxnvBaby+QIO9Hjfv1BA='; script-src 'sha256-3GhzLFqhMUMcakSUbkwkoy9xfP0GgYllQtrsmGprUrc='; img-src https: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Renders the document. Throws TypeError if `endpoint` is not an absolute URL. */
export function renderPage(page: PageModel): string {
  const { name, description, instructions } = page
  const title = page.title || name
  const icon = allowed(/^(https:\/|data:image)\//i, page.icon)
  const website = allowed(/^https?:\/\//i, page.websiteUrl)
  return html`<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width"><title>${title} · MCP server</title><link rel=icon href="${icon ?? 'data:,'}"><style>${raw(STYLE)}</style><main><header>${
    icon
      ? html`<img class=icon src="${icon}" alt="">`
      : html`<b class=icon aria-hidden=true>${[...title][0]}</b>`
  }<h1>${title}</h1><p class=soft>MCP server · ${title !== name && html`<code>${name}</code> · `}${page.version}</p>${[
    description && html`<p>${description}</p>`,
    website && html`<p><a href="${website}">${website}</a></p>`,
    instructions && fold('Instructions for the model', html`<p class=soft>${instructions}</p>`),
  ]}</header><aside><h2>Connect</h2><div class=card>${connect(page)}</div></aside><div>${[
    list('Tools', page.tools, raw('<input type=search placeholder="Filter tools">')),
    list('Prompts', page.prompts),
    list('Resources', page.resources),
    list('Resource templates', page.resourceTemplates),
  ]}<p class=soft>Speaks MCP ${page.protocolVersions.join(', ')}</p></div></main><output id=o></output>${raw(`<script>${SCRIPT}</script>`)}`
    .markup
}

/** The URL, the links, and a snippet for each client. The shared `name` makes the details exclusive: one is open at a time. */
function connect({ name, endpoint }: PageModel): Html[] {
  const snippets = connectSnippets(name, endpoint)
  return [
    html`<div>${block('any client', { where: 'URL', code: toLiteralUrl(new URL(endpoint)) })}<p>${snippets.map(
      ({ client, link }) => link && html`<a href="${link}">Add to ${client}</a> `,
    )}</p></div>`,
    ...snippets.map(
      ({ client, blocks }, index) =>
        html`<details name=connect ${raw(index ? '' : 'open')}><summary>${client}</summary>${blocks.map(
          (one) => block(client, one),
        )}</details>`,
    ),
  ]
}

function block(client: string, { where, code }: SnippetBlock): Html {
  return html`<div class=code><small>${where}</small><button aria-label="Copy for ${client}: ${where}">Copy</button><pre>${code}</pre></div>`
}

/** Above this number, tools can be filtered. */
const MANY = 20

/** The members that tools, prompts, resources and templates share. */
interface Listed {
  name?: string
  uri?: string
  uriTemplate?: string
  title?: string
  description?: string
  mimeType?: string
  readOnly?: boolean
  destructive?: boolean
  parameters?: Parameter[]
  arguments?: Parameter[]
}

interface Parameter {
  name: string
  type?: string
  required?: boolean
  description?: string
}

function list(heading: string, items: Listed[], filter?: Html): Html | undefined {
  return (
    items[0] &&
    html`<section><h2>${heading} <small>${items.length}</small></h2>${
      items[MANY] && filter
    }<div class=card>${items.map(entry)}</div></section>`
  )
}

function entry(item: Listed): Html {
  const uri = item.uri ?? item.uriTemplate
  const title = item.title ?? (uri && item.name)
  const parameters = item.parameters ?? item.arguments ?? []
  return html`<article><h3><code>${uri ?? item.name}</code> ${[
    title && html`<small>${title}</small> `,
    item.mimeType && html`<mark>${item.mimeType}</mark> `,
    item.readOnly && html`<mark>read-only</mark>`,
    item.destructive && html`<mark class=bad>destructive</mark>`,
  ]}</h3>${item.description && html`<p>${item.description}</p>`}${
    parameters[0] && fold('Parameters', html`<dl>${parameters.map(term)}</dl>`)
  }</article>`
}

function term({ name, type, required, description }: Parameter): Html {
  return html`<dt><code>${name}</code> <small>${type}</small> ${required && html`<mark>required</mark>`}<dd>${description}</dd>`
}

function fold(summary: string, content: Html): Html {
  return html`<details><summary class=soft>${summary}</summary>${content}</details>`
}

function allowed(pattern: RegExp, url: string | undefined): string | undefined {
  return url && pattern.test(url) ? url : undefined
}
