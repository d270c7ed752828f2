/** The playground: connects with the settings, and shows the server's offers and the messages. */
import { isA } from '../../../src/definition/error-text.ts'
import { type Offer, readOffers, showCatalogue } from './catalogue.ts'
import { Client, explain, isLegacyAnswer, LEGACY, MODERN } from './client.ts'
import { code, details, element, openAgain, part } from './dom.ts'
import { SignInNeeded } from './exchange.ts'
import { asObject, asText, clip, type Json, pretty, reasonOf } from './json.ts'
import { createFetchOutside, hiddenHeaders, type Local, readLocal, tasksUrl } from './local.ts'
import { finishSignIn, startSignIn } from './oauth.ts'
import { showItem, titleOf } from './panels.ts'
import { askUser } from './questions.ts'
import { createWireLog } from './wire.ts'

const settings = part<HTMLFormElement>('settings')
const questions = element('div', { id: 'questions' })
const onExchange = createWireLog(part('exchanges'))
const tokenInput = part<HTMLInputElement>('token')

let connection = new AbortController()
let challenge = ''
let picked: string | undefined
let endCall = (): void => {}

function say(text: string): void {
  part('status').textContent = clip(text, 300)
}

function capabilities(era: 'modern' | 'legacy'): Json {
  const has = (name: string): boolean => part<HTMLInputElement>(`can-${name}`).checked
  const elicitation = { ...(has('form') && { form: {} }), ...(has('url') && { url: {} }) }
  return {
    ...((has('form') || has('url')) && { elicitation }),
    ...(has('sampling') && { sampling: {} }),
    ...(has('roots') && { roots: era === 'legacy' ? { listChanged: false } : {} }),
  }
}

/** @param onLegacy of a server that only speaks the legacy era. Without it, that is shown. */
async function connect(local: Local, onLegacy?: () => Promise<void>): Promise<void> {
  endCall()
  connection.abort(new Error('reconnected'))
  connection = new AbortController()
  const { signal } = connection
  const era = part<HTMLInputElement>('era-modern').checked ? 'modern' : 'legacy'
  const client = new Client(
    {
      era,
      capabilities: capabilities(era),
      url: local.path,
      token: tokenInput.value.trim() || undefined,
      hiddenHeaders: hiddenHeaders(local),
    },
    { onExchange, answer: (method, params, ended) => askUser(questions, method, params, ended) },
  )
  say('Connecting')
  try {
    const described = await client.connect(signal)
    showServer(described, era)
    const offers = await readOffers(client, described, signal)
    const catalogue = showCatalogue(part('catalogue'), offers, (offer) => show(client, offer))
    catalogue.pick(picked)
    part('sign-in').hidden = challenge === ''
    say(`Connected, ${offers.length} offers`)
  } catch (error) {
    if (signal.aborted) return
    if (onLegacy !== undefined && era === 'modern' && isLegacyAnswer(error)) return onLegacy()
    part('catalogue').replaceChildren()
    part('work').replaceChildren(
      element('h2', {}, 'Not connected'),
      code(explain(error), 'The reason'),
      element('p', {}, 'The exchange below shows what was sent and received. Try the other era, or sign in.'),
    )
    say('Not connected')
    onFailure(error)
  }
}

function show(client: Client, { kind, item }: Offer): void {
  endCall()
  picked = titleOf(kind, item)
  endCall = showItem(kind, item, { client, work: part('work'), questions, say, onFailure })
}

function showServer(described: Json, era: 'modern' | 'legacy'): void {
  const info = asObject(
    described.serverInfo ?? asObject(described._meta)['io.modelcontextprotocol/serverInfo'],
  )
  const name = [asText(info.title) ?? asText(info.name) ?? 'A server without a name', asText(info.version)]
  const { extensions } = asObject(described.capabilities)
  part('tasks').hidden = !Object.hasOwn(asObject(extensions), 'io.modelcontextprotocol/tasks')
  const version = era === 'modern' ? MODERN : (asText(described.protocolVersion) ?? LEGACY)
  part('server').replaceChildren(
    element('strong', {}, clip(name.filter(Boolean).join(' '), 200)),
    ` speaks MCP ${clip(version, 40)}`,
    details('Server description', code(pretty(described), 'The server’s description as JSON')),
  )
}

/** Opens the authorization section if the server requires a token. */
function onFailure(error: unknown): void {
  if (!isA(error, SignInNeeded)) return
  challenge = error.challenge
  part('sign-in').hidden = false
  part<HTMLDetailsElement>('authorization').open = true
  say('The server asks for authorization')
}

function showSignInProblem(error: unknown): void {
  part<HTMLDetailsElement>('authorization').open = true
  part('sign-in').hidden = false
  part('sign-in-problem').textContent = reasonOf(error)
}

async function start(): Promise<void> {
  const local = await readLocal()
  if (local === undefined) {
    part('work').replaceChildren(...openAgain())
    return
  }
  part('endpoint').textContent = local.endpoint
  part('tasks').setAttribute('href', tasksUrl())
  const fetchOutside = createFetchOutside(local)
  const reconnect = (): void => void connect(local)
  settings.addEventListener('change', ({ target }) => {
    if (target !== part('client-id')) reconnect()
  })
  settings.addEventListener('submit', (event) => {
    event.preventDefault()
    reconnect()
  })
  part('clear').addEventListener('click', () => part('exchanges').replaceChildren())
  part('sign-in').addEventListener('click', () => {
    part('sign-in-problem').textContent = ''
    const clientId = part<HTMLInputElement>('client-id').value.trim() || undefined
    startSignIn({ endpoint: local.endpoint, challenge, clientId, fetchOutside }).catch(showSignInProblem)
  })
  try {
    const token = await finishSignIn(fetchOutside)
    if (token !== undefined) tokenInput.value = token
  } catch (error) {
    showSignInProblem(error)
  }
  // Once: who chooses the era afterwards is shown what it does.
  await connect(local, () => {
    part<HTMLInputElement>('era-legacy').checked = true
    return connect(local)
  })
}

void start()
