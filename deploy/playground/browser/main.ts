/** The playground: connects with the settings, and shows the server's offers and the messages. */
import { isA } from '../../../src/definition/error-text.ts'
import { type Bar, createBar } from './bar.ts'
import { type Catalogue, idOf, marksOf, type Offer, readOffers, showCatalogue } from './catalogue.ts'
import { Client, type Era } from './client.ts'
import { type Connection, NoConnection, openConnection, PATIENCE_MS, withPatience } from './connection.ts'
import { receiverSecrets } from './deliveries.ts'
import { button, element, frame, openAgain, part } from './dom.ts'
import { type Exchange, SignInNeeded } from './exchange.ts'
import { type Call, createHistory, type History } from './history.ts'
import { asObject, clip, isObject, type Json, reasonOf, textOfJson } from './json.ts'
import { goTo, listenToKeys, listenToTabs } from './keys.ts'
import {
  type AskReceivers,
  createAskReceivers,
  createFetchOutside,
  hiddenHeaders,
  type Local,
  readLocal,
  tasksUrl,
} from './local.ts'
import { finishSignIn, startSignIn } from './oauth.ts'
import { restoreValues, type ShownItem, showItem, storedValues, titleOf } from './panels.ts'
import { askUser } from './questions.ts'
import { createRefresh } from './refresh.ts'
import { followReloads } from './reloads.ts'
import { secretsOf } from './schema.ts'
import { createReadErrors, type ReadErrors } from './server-errors.ts'
import { SignInSteps } from './sign-in-steps.ts'
import { store, takeStored } from './tab-store.ts'
import { createReadJournal } from './task-endpoint.ts'
import type { TaskPlace } from './task-run.ts'
import { isDown, showTrouble } from './trouble.ts'
import { createUpdates, heardText } from './updates.ts'
import { createWireLog, type WireLog } from './wire.ts'

const questions = element('div', { id: 'questions' })
const signInSteps = new SignInSteps(part('sign-in-steps'))
let log: WireLog
let history: History

let connection = new AbortController()
let challenge = ''
/** The chosen offer; its id is in the URL. */
let picked: Offer | undefined
let shown: ShownItem | undefined
/** The definition of what is shown, and of all offers. */
let shownText: string | undefined
let offersText: string | undefined
let catalogue: Catalogue | undefined
let refresh = (): void => {}
let readJournal: TaskPlace['readJournal']
let readErrors: ReadErrors | undefined
let askReceivers: AskReceivers | undefined

/** For screen readers. */
function say(text: string): void {
  part('announce').textContent = clip(text, 300)
}

const updates = createUpdates({
  onUpdated: (uris) => uris.forEach(showUpdated),
  onListChanged: () => refresh(),
  say,
})

/** Beside the resource. */
function showUpdated(uri: string): void {
  const heard = updates.heard(uri)
  if (heard !== undefined) catalogue?.remark(idOf({ kind: 'resource', item: { uri } }), heardText(heard))
}

function onExchange(exchange: Exchange): void {
  log.add(exchange)
  document.querySelector('[data-go=wire]')!.textContent = `Wire ${part('exchanges').childElementCount}`
}

/** Reads the URL: a link, or the page before it was loaded again. */
function askedId(): string | undefined {
  return /^#((?:tool|resource|template|prompt|event)=.+)$/.exec(location.hash)?.[1]
}

async function connect(local: Local, bar: Bar): Promise<void> {
  shown?.leave()
  refresh = () => {}
  connection.abort(new Error('reconnected'))
  connection = new AbortController()
  const { signal } = connection
  const createClient = (era: Era): Client =>
    new Client(
      {
        era,
        capabilities: bar.capabilities(era),
        url: local.path,
        token: bar.token(),
        hiddenHeaders: hiddenHeaders(local),
      },
      {
        onExchange,
        answer: (method, params, ended) => {
          if (picked !== undefined && method !== 'ping') catalogue?.note(picked, 'asks')
          return askUser(questions, method, params, ended)
        },
      },
    )
  const stopWaiting = showWaiting(local, bar)
  try {
    const opened = await openConnection(bar.era(), createClient, signal)
    const offers = await withPatience(signal, (bounded) =>
      readOffers(opened.client, opened.described, bounded),
    )
    stopWaiting()
    showServer(opened, offers, bar)
    refresh = createRefresh({
      read: () => readAgain(opened, bar, signal),
      onFailure: (error) => {
        if (!signal.aborted) say(`The server has changed, and does not answer: ${reasonOf(error)}`)
      },
    })
  } catch (error) {
    stopWaiting()
    if (signal.aborted) return
    part('catalogue').replaceChildren()
    updates.follow(undefined)
    shown = undefined
    shownText = undefined
    const again = button('Connect again', () => void connect(local, bar), { class: 'main' })
    const needsToken = noteChallenge(error)
    const signIn = button('Sign in with OAuth', () => part('sign-in').click(), { class: 'main' })
    const title = showTrouble(part('work'), error, {
      endpoint: local.endpoint,
      actions: needsToken
        ? [
            signIn,
            button('Paste a token', () => {
              openAuthorization()
              part('token').focus()
            }),
          ]
        : [again],
    })
    bar.show('failed', title)
    goTo('work')
  }
}

/** Says what is waited for. Returns a function that stops counting. */
function showWaiting(local: Local, bar: Bar): () => void {
  const started = performance.now()
  bar.show('connecting', 'Connecting')
  if (part('catalogue').childElementCount === 0) {
    goTo('work')
    const text = `The page waits for ${local.endpoint}, up to ${PATIENCE_MS / 1000} seconds.`
    part('work').replaceChildren(
      element('div', { id: 'item' }, element('h2', {}, 'Connecting'), element('p', {}, text)),
    )
  }
  const timer = setInterval(() => {
    part('latency').textContent = `${((performance.now() - started) / 1000).toFixed(0)} s`
  }, 1000)
  return () => clearInterval(timer)
}

function showServer(opened: Connection, offers: readonly Offer[], bar: Bar): void {
  bar.show('connected', 'Connected')
  bar.showServer(opened)
  part('sign-in').hidden = challenge === ''
  shownText = undefined
  // In a narrow window; who has chosen stays where they are.
  if (picked === undefined && offers.length > 0) goTo(askedId() === undefined ? 'rail' : 'work')
  showOffers(opened, offers, bar)
  say(`Connected, ${offers.length} offers`)
}

/** Reads a server whose code or lists have changed. What is the same stays as it is. */
async function readAgain(opened: Connection, bar: Bar, signal: AbortSignal): Promise<void> {
  const { client } = opened
  const { described, offers } = await withPatience(signal, async (bounded) => {
    const answer = await client.connect(bounded)
    return { described: answer, offers: await readOffers(client, answer, bounded) }
  })
  const now = { ...opened, described }
  bar.show('connected', 'Connected')
  bar.showServer(now)
  const text = textOfJson(offers)
  if (text !== undefined && text === offersText) return
  const restore = catalogue?.hold()
  showOffers(now, offers, bar)
  if (catalogue !== undefined) restore?.(catalogue)
  say(`The server has changed: ${offers.length} offers`)
}

function showOffers({ client, described }: Connection, offers: readonly Offer[], bar: Bar): void {
  const own = showCatalogue(part('catalogue'), offers, {
    say,
    onPick: (offer, isByUser) => show({ client, described }, bar, offer, isByUser),
  })
  catalogue = own
  offersText = textOfJson(offers)
  const uris = offers.flatMap(({ kind, item }) => (kind === 'resource' ? [titleOf(kind, item)] : []))
  updates.follow(client, described, uris)
  uris.forEach(showUpdated)
  document.querySelector('[data-go=rail]')!.textContent = `Tools ${offers.length}`
  if (offers.length === 0)
    part('work').replaceChildren(
      element(
        'div',
        { id: 'item' },
        element('h2', {}, 'Connected'),
        element('p', {}, 'The server offers no tools, resources, prompts or events to this client.'),
      ),
    )
  own.pick(picked === undefined ? askedId() : idOf(picked))
}

function show(
  { client, described }: Pick<Connection, 'client' | 'described'>,
  bar: Bar,
  offer: Offer,
  isByUser: boolean,
): void {
  const { kind, item } = offer
  const text = textOfJson(offer)
  if (!isByUser && text !== undefined && text === shownText) return
  shown?.leave()
  picked = offer
  shownText = text
  shown = showItem(kind, item, {
    client,
    canComplete: isObject(asObject(described.capabilities).completions),
    work: part('work'),
    questions,
    say,
    onFailure: (error) => onFailure(error, bar),
    onResult: ({ resultType }) => {
      if (document.body.dataset.state === 'failed') bar.show('connected', 'Connected')
      if (resultType === 'task') catalogue?.note(offer, 'task')
    },
    readJournal,
    readErrors,
    askReceivers,
    onEnd: (values, outcome, ms) => history.add(toCall(offer, values), outcome, ms),
    marks: marksOf(offer),
    endpoint: history.endpoint,
    history: history.node,
    save: () => history.openSave(),
  })
  if (!isByUser) return
  location.hash = idOf(offer)
  goTo('work')
  part('work').scrollTop = 0
  shown.heading.focus({ preventScroll: true })
  say(`${titleOf(kind, item)}: its form is shown`)
}

/** Without passwords: calls are listed and stored. */
function toCall(offer: Offer, given: Json): Call {
  const { kind, item } = offer
  const isSecret = kind === 'tool' || kind === 'event' ? secretsOf(item.inputSchema) : () => false
  const values = Object.fromEntries(Object.entries(given).filter(([name]) => !isSecret(name)))
  return { id: idOf(offer), name: titleOf(kind, item), values }
}

/** Shows an earlier call in its form. */
function openCall({ id, values }: Call, isRun: boolean): boolean {
  if (catalogue?.has(id) !== true) return false
  catalogue.pick(id)
  location.hash = id
  goTo('work')
  shown?.write(values)
  if (isRun) shown?.start()
  else shown?.heading.focus()
  return true
}

/** Whether the server requires a token. */
function noteChallenge(error: unknown): boolean {
  const causes = isA(error, NoConnection) ? error.attempts.map((attempt) => attempt.error) : [error]
  const needed = causes.find((cause) => isA(cause, SignInNeeded))
  if (!isA(needed, SignInNeeded)) return false
  challenge = needed.challenge
  part('sign-in').hidden = false
  return true
}

/** Opens the authorization section if the server requires a token for a call, and says at the top that the server is down. */
function onFailure(error: unknown, bar: Bar): void {
  if (isDown(error)) bar.show('failed', 'The server is down')
  if (!noteChallenge(error)) return
  openAuthorization()
  say('The server asks for authorization')
}

function openAuthorization(): void {
  part('settings').classList.add('open')
  part<HTMLDetailsElement>('authorization').open = true
}

function showSignInProblem(error: unknown): void {
  openAuthorization()
  part('sign-in').hidden = false
  part('sign-in-problem').textContent = reasonOf(error)
}

/** Esc: ends what is closest to the user, otherwise goes back to the list. */
function leave(bar: Bar): void {
  if (bar.closeMenu()) return
  const isInRail = part('rail').contains(document.activeElement)
  if (!isInRail && shown?.end() === true) return
  goTo('rail')
  catalogue?.leaveFilter()
}

function call(): void {
  const question = document.activeElement?.closest<HTMLFormElement>('form.question')
  const form = question ?? document.querySelector<HTMLFormElement>('#call')
  form?.requestSubmit()
}

/** Says that what the page shows is not of the code as it is. */
function showRefused(reasons: readonly string[]): void {
  const place = part('refused')
  place.hidden = reasons.length === 0
  const title = 'Your last change does not run. Until one does, what answers is older code.'
  place.replaceChildren(element('strong', {}, title), frame(reasons.join('\n'), 'The reason'))
}

async function start(): Promise<void> {
  const local = await readLocal()
  if (local === undefined) {
    part('work').replaceChildren(element('div', { id: 'item' }, ...openAgain()))
    return
  }
  part('tasks').setAttribute('href', tasksUrl())
  const fetchOutside = createFetchOutside(local)
  const bar = createBar(local.endpoint, () => void connect(local, bar))
  part('listening').append(updates.node)
  readJournal = createReadJournal(local)
  readErrors = createReadErrors(local)
  askReceivers = createAskReceivers(local)
  followReloads(local, {
    onReload: () => {
      shown?.outdate()
      refresh()
    },
    onRefused: showRefused,
  })
  log = createWireLog(
    { list: part('exchanges'), count: part('wire-count'), actions: part('wire-actions') },
    { endpoint: () => local.endpoint, secrets: () => [bar.token() ?? '', ...receiverSecrets()], say },
  )
  const before = takeStored(local.endpoint)
  restoreValues(before)
  history = createHistory({
    endpoint: local.endpoint,
    lastCalls: before.last,
    open: openCall,
    current: () => (picked && shown ? toCall(picked, shown.read()) : undefined),
    say,
  })
  listenToTabs()
  listenToKeys({
    call,
    filter: () => {
      goTo('rail')
      catalogue?.focusFilter()
    },
    leave: () => leave(bar),
  })
  document.querySelector('.skip')!.addEventListener('click', (event) => {
    // The hash of the URL names the chosen offer.
    event.preventDefault()
    goTo('work')
    part('work').focus()
  })
  addEventListener('hashchange', () => {
    const id = askedId()
    if (id !== undefined && (picked === undefined || id !== idOf(picked)) && catalogue?.has(id))
      catalogue.pick(id)
  })
  part('clear').addEventListener('click', () => log.clear())
  part('sign-in').addEventListener('click', () => {
    part('sign-in-problem').textContent = ''
    const clientId = part<HTMLInputElement>('client-id').value.trim() || undefined
    signInSteps.clear()
    const { endpoint } = local
    startSignIn({ endpoint, challenge, clientId, fetchOutside, onStep: signInSteps.add }).catch(
      showSignInProblem,
    )
  })
  signInSteps.restore()
  addEventListener('pagehide', () => {
    signInSteps.keep()
    shown?.keep()
    store(local.endpoint, { ...storedValues(), last: history.last() })
  })
  try {
    const token = await finishSignIn({ fetchOutside, onStep: signInSteps.add })
    if (token !== undefined) {
      part<HTMLInputElement>('token').value = token
      part('token-summary').textContent = 'Token'
    }
  } catch (error) {
    showSignInProblem(error)
  }
  await connect(local, bar)
}

void start()
