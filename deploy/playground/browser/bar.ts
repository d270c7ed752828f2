/** The bar: the server, its URL and state, and how this client connects. */
import { connectSnippets } from '../../../src/http/connect-snippets.ts'
import type { Era } from './client.ts'
import type { Connection, EraChoice } from './connection.ts'
import { button, code, details, element, onCopy, part } from './dom.ts'
import { asObject, asText, clip, type Json, pretty } from './json.ts'
import { TASKS_EXTENSION } from './task-run.ts'

export type State = 'connecting' | 'connected' | 'failed'

export interface Bar {
  readonly era: () => EraChoice
  readonly capabilities: (era: Era) => Json
  /** An access token. */
  readonly token: () => string | undefined
  readonly show: (state: State, text: string) => void
  readonly showServer: (connection: Connection) => void
  /** Closes the open menu. False if there is none. */
  readonly closeMenu: () => boolean
}

const FEATURES = ['form', 'url', 'sampling', 'roots', 'tasks'] as const

const isChecked = (id: string): boolean => part<HTMLInputElement>(id).checked
const can = (name: (typeof FEATURES)[number]): boolean => isChecked(`can-${name}`)
const token = (): string | undefined => part<HTMLInputElement>('token').value.trim() || undefined

/** Calls `onChange` when what the client declares or sends has changed. */
export function createBar(endpoint: string, onChange: () => void): Bar {
  const settings = part<HTMLFormElement>('settings')
  part('endpoint').textContent = endpoint.replace(/^https?:\/\//, '')
  part('endpoint').title = endpoint
  const copy = part<HTMLButtonElement>('copy-url')
  copy.hidden = false
  onCopy(copy, () => endpoint)
  settings.addEventListener('change', ({ target }) => {
    drawSummaries()
    if (target !== part('client-id')) onChange()
  })
  settings.addEventListener('submit', (event) => {
    event.preventDefault()
    closeMenu()
    onChange()
  })
  part('more').addEventListener('click', () => {
    const isOpen = settings.classList.toggle('open')
    part('more').setAttribute('aria-expanded', String(isOpen))
  })
  // Before the button that is clicked, which may open another one.
  document.addEventListener('click', closeOthers, { capture: true })
  drawSummaries()
  drawSnippets('mcp-server', endpoint)
  return {
    era: () => (isChecked('era-auto') ? 'auto' : isChecked('era-modern') ? 'modern' : 'legacy'),
    capabilities,
    token,
    closeMenu,
    show(state, text) {
      document.body.dataset.state = state
      part('status').textContent = text
      part('latency').textContent = ''
      if (!isChecked('era-auto')) part('era-auto-label').textContent = 'Auto'
    },
    showServer({ client, described, tookMs }) {
      const info = asObject(
        described.serverInfo ?? asObject(described._meta)['io.modelcontextprotocol/serverInfo'],
      )
      const name = clip(asText(info.title) ?? asText(info.name) ?? 'A server without a name', 200)
      const version = clip(asText(info.version) ?? '', 40)
      const { extensions } = asObject(described.capabilities)
      part('tasks').hidden = !Object.hasOwn(asObject(extensions), TASKS_EXTENSION)
      part('server').replaceChildren(name, element('span', { class: 'soft mono' }, version))
      document.title = `${name} – Mayfly playground`
      if (isChecked('era-auto')) part('era-auto-label').textContent = `Auto: ${clip(client.version, 40)}`
      part('latency').textContent = `${tookMs.toFixed(0)} ms`
      const instructions = asText(described.instructions)
      part('description').replaceChildren(
        element('p', {}, `${name} ${version} speaks MCP ${clip(client.version, 40)}`),
        ...(instructions === undefined ? [] : [element('p', { class: 'soft' }, clip(instructions, 2000))]),
        code(pretty(described), 'The server’s description as JSON'),
        element('div', {}, element('button', { type: 'submit' }, 'Connect again')),
      )
      drawSnippets(asText(info.name) ?? 'mcp-server', endpoint)
    },
  }
}

function capabilities(era: Era): Json {
  const elicitation = { ...(can('form') && { form: {} }), ...(can('url') && { url: {} }) }
  return {
    ...((can('form') || can('url')) && { elicitation }),
    ...(can('sampling') && { sampling: {} }),
    ...(can('roots') && { roots: era === 'legacy' ? { listChanged: false } : {} }),
    ...(can('tasks') && era === 'modern' && { extensions: { [TASKS_EXTENSION]: {} } }),
  }
}

function drawSummaries(): void {
  const count = FEATURES.filter(can).length
  const said =
    count === FEATURES.length ? `all ${count}` : count === 0 ? 'none' : `${count} of ${FEATURES.length}`
  part('client-summary').textContent = `Client: ${said}`
  part('token-summary').textContent = token() === undefined ? 'No token' : 'Token'
}

function drawSnippets(name: string, endpoint: string): void {
  const clients = connectSnippets(clip(name, 200), endpoint).map(({ client, blocks }) =>
    details(
      client,
      ...blocks.map((block) => {
        const copy = button('Copy', () => {}, { class: 'small', 'aria-label': `Copy for ${client}` })
        onCopy(copy, () => block.code)
        const where = element('div', { class: 'line' }, element('small', {}, block.where), copy)
        return element('div', {}, where, code(block.code, `${client}: ${block.where}`))
      }),
    ),
  )
  part('snippets').replaceChildren(...clients)
}

function closeOthers({ target }: Event): void {
  const menu = openMenu()
  if (menu !== null && !menu.contains(target as Node)) menu.open = false
}

const openMenu = (): HTMLDetailsElement | null => document.querySelector('.menu[open]')

function closeMenu(): boolean {
  const menu = openMenu()
  if (menu === null) return false
  if (menu.contains(document.activeElement)) menu.querySelector('summary')!.focus()
  menu.open = false
  return true
}
