/** Receives the events of a server (SEP-3415, "Webhook-Based Delivery") by a webhook of the local process: subscribes, shows what arrives, chooses the answers. */
import { type Client, explain } from './client.ts'
import { button, code, element, nextId } from './dom.ts'
import { asList, asObject, asText, clip, indented, type Json, parse } from './json.ts'
import type { AskReceivers } from './local.ts'

export interface DeliveryPlace {
  readonly client: Client
  /** Undefined if the local process has no receivers. */
  readonly askReceivers: AskReceivers | undefined
  /** The arguments of the form. Throws if it is invalid. */
  readonly read: () => Json
  /** For screen readers. */
  readonly say: (text: string) => void
  readonly onFailure: (error: unknown) => void
}

export interface Deliveries {
  readonly node: HTMLElement
  /** Subscribes again, to a server that may have forgotten it. */
  readonly refresh: () => void
}

/** What was subscribed. */
interface Subscribed {
  readonly receiverId: string
  readonly params: Json
  readonly refreshAt: number
}

const READ_MS = 1000
const REQUEST_MS = 30_000
const MAX_SHOWN = 100
const MAX_BODY_CHARACTERS = 20_000
/** Of the time that a subscription has left. */
const REFRESHED_AFTER = 0.6
const MIN_REFRESH_MS = 10_000
/** For subscriptions that do not expire. */
const LONG_MS = 3_600_000

const ANSWERS = [
  ['accept', 'Accept: 200'],
  ['fail', 'Fail: 500'],
  ['gone', 'Gone: 410'],
  ['slow', 'Wait 15 s'],
] as const

/** By the name of the event: they go on while another item is shown. */
const opened = new Map<string, Receiver>()

/** The deliveries of one event, as they were left. */
export function showDeliveries(event: Json, place: DeliveryPlace): Deliveries {
  const name = asText(event.name) ?? ''
  const receiver = opened.get(name) ?? new Receiver(event)
  opened.set(name, receiver)
  receiver.show(place)
  return { node: receiver.node, refresh: () => void receiver.subscribe() }
}

/** They are not exported with the messages. */
export function receiverSecrets(): readonly string[] {
  return [...opened.values()].map(({ secret }) => secret)
}

class Receiver {
  /** Of the last subscription. */
  secret = ''
  readonly node: HTMLElement
  readonly #name: unknown
  readonly #isByWebhook: boolean
  readonly #problem = element('p', { class: 'bad', role: 'alert' })
  readonly #state = element('p', { class: 'soft' })
  readonly #list = element('ol', { class: 'deliveries' })
  readonly #toggle: HTMLButtonElement
  readonly #answers: HTMLFieldSetElement
  #place!: DeliveryPlace
  #subscribed: Subscribed | undefined
  /** One request after the other. */
  #turn: Promise<void> = Promise.resolve()
  #last = 0
  #received = 0

  constructor({ name, delivery }: Json) {
    this.#name = name
    this.#isByWebhook = asList(delivery).includes('webhook')
    this.#toggle = button('Subscribe', () => this.#press(), { 'aria-pressed': 'false' })
    this.#answers = this.#createAnswers()
    this.node = element(
      'section',
      { class: 'received', 'aria-label': 'Deliveries' },
      element('div', { class: 'line' }, element('h3', {}, 'Deliveries'), this.#toggle, this.#answers),
      this.#state,
      this.#problem,
      this.#list,
    )
  }

  show(place: DeliveryPlace): void {
    this.#place = place
    const isPossible = this.#isByWebhook && place.askReceivers !== undefined
    this.#toggle.hidden = !isPossible
    if (this.#subscribed !== undefined) return
    this.#answers.hidden = true
    this.#state.textContent = !this.#isByWebhook
      ? 'The server does not deliver this event to webhooks for this client: poll it.'
      : isPossible
        ? 'A webhook on this machine receives the events for these arguments.'
        : 'A server elsewhere cannot reach a webhook on this machine: poll the event.'
  }

  /** Subscribes with the same arguments again. Nothing happens if it is not subscribed. */
  subscribe(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#subscribed === undefined) return
      const { receiverId, params } = this.#subscribed
      // A server that refuses it, or cannot be reached, is not asked each second.
      this.#subscribed = { receiverId, params, refreshAt: Date.now() + MIN_REFRESH_MS }
      this.#subscribed = await this.#send(receiverId, params)
    })
  }

  #press(): void {
    void this.#inTurn(() =>
      this.#subscribed === undefined ? this.#begin(this.#place.read) : this.#end(this.#subscribed),
    )
  }

  async #begin(read: () => Json): Promise<void> {
    const given = read()
    const { id, url, secret } = await this.#place.askReceivers!({})
    const receiverId = String(id)
    this.secret = String(secret)
    this.#last = 0
    const delivery = { mode: 'webhook', url, secret }
    const params = { name: this.#name, arguments: given, cursor: null, delivery }
    try {
      this.#subscribed = await this.#send(receiverId, params)
    } catch (error) {
      await this.#place.askReceivers!({ id: receiverId, close: true })
      throw error
    } finally {
      this.#draw()
    }
    this.#place.say('Subscribed')
    void this.#watch(receiverId)
  }

  async #send(receiverId: string, params: Json): Promise<Subscribed> {
    const answer = await this.#place.client.request(
      'events/subscribe',
      params,
      AbortSignal.timeout(REQUEST_MS),
    )
    const before = Date.parse(asText(answer.refreshBefore) ?? '')
    const leftMs = Number.isNaN(before) ? LONG_MS : Math.min(before - Date.now(), LONG_MS)
    this.#state.textContent = `Subscribed with ${clip(JSON.stringify(params.arguments), 300)}.`
    return { receiverId, params, refreshAt: Date.now() + Math.max(MIN_REFRESH_MS, leftMs * REFRESHED_AFTER) }
  }

  async #end({ receiverId, params }: Subscribed): Promise<void> {
    const { url } = asObject(params.delivery)
    this.#subscribed = undefined
    this.#draw()
    this.#state.textContent = 'No longer subscribed.'
    const ended = { name: params.name, arguments: params.arguments, delivery: { mode: 'webhook', url } }
    try {
      await this.#place.client.request('events/unsubscribe', ended, AbortSignal.timeout(REQUEST_MS))
    } finally {
      // A server that goes on gets 410.
      await this.#place.askReceivers!({ id: receiverId, close: true })
    }
    this.#place.say('No longer subscribed')
  }

  /** Reads what arrives while the page shows it, and keeps the subscription alive. */
  async #watch(receiverId: string): Promise<void> {
    while (this.#subscribed?.receiverId === receiverId) {
      const isDue = Date.now() >= this.#subscribed.refreshAt
      // Before a refresh, too: a server would find that the webhook is gone.
      if (isDue || (this.node.isConnected && !document.hidden))
        await this.#inTurn(() => this.#read(receiverId))
      if (isDue && this.#subscribed?.receiverId === receiverId) await this.subscribe()
      await new Promise((resolve) => setTimeout(resolve, READ_MS))
    }
  }

  async #read(receiverId: string): Promise<void> {
    if (this.#subscribed?.receiverId !== receiverId) return
    const { entries, isGone } = await this.#place.askReceivers!({ id: receiverId, after: this.#last })
    if (isGone === true) return this.#renew(this.#subscribed)
    const fresh = asList(entries).map(asObject)
    for (const entry of fresh) {
      this.#last = Number(entry.number)
      this.#received++
      this.#list.prepend(drawEntry(entry))
    }
    while (this.#list.childElementCount > MAX_SHOWN) this.#list.lastElementChild!.remove()
    if (fresh.length > 0) this.#place.say(`${this.#received} deliveries`)
    const reason = fresh.map(endedBy).find((one) => one !== undefined)
    if (reason === undefined) return
    this.#subscribed = undefined
    this.#draw()
    this.#state.textContent = reason
    await this.#place.askReceivers!({ id: receiverId, close: true })
  }

  /** Subscribes another webhook. If that fails, nothing more is asked. */
  async #renew({ params }: Subscribed): Promise<void> {
    this.#subscribed = undefined
    this.#draw()
    this.#state.textContent = 'The webhook is closed, as this page was hidden for long: subscribe again.'
    await this.#begin(() => asObject(params.arguments))
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      try {
        await work()
        this.#problem.textContent = ''
      } catch (error) {
        this.#problem.textContent = clip(explain(error), 1000)
        this.#place.onFailure(error)
      }
    })
    return this.#turn
  }

  #draw(): void {
    const isOn = this.#subscribed !== undefined
    this.#toggle.textContent = isOn ? 'Unsubscribe' : 'Subscribe'
    this.#toggle.setAttribute('aria-pressed', String(isOn))
    this.#answers.hidden = !isOn
    if (isOn) this.#answers.querySelector('input')!.checked = true
  }

  #createAnswers(): HTMLFieldSetElement {
    const name = nextId()
    const choices = ANSWERS.map(([value, label]) => {
      const input = element('input', { type: 'radio', name, value })
      input.addEventListener('change', () => void this.#inTurn(() => this.#answer(value)))
      return element('label', {}, input, element('span', {}, label))
    })
    const legend = element('legend', { class: 'away' }, 'What the next deliveries are answered')
    return element('fieldset', { class: 'seg', hidden: '' }, legend, ...choices)
  }

  async #answer(answer: string): Promise<void> {
    const { receiverId } = this.#subscribed ?? {}
    if (receiverId !== undefined)
      await this.#place.askReceivers!({ id: receiverId, after: this.#last, answer })
  }
}

/** Why a subscription is over after this entry. */
function endedBy({ isVerified, status, body }: Json): string | undefined {
  if (isVerified !== true) return undefined
  if (Number(status) === 410) return 'The answer 410 has ended the subscription.'
  const { type } = asObject(parse(String(body)))
  return type === 'terminated' ? 'The server has ended the subscription.' : undefined
}

function drawEntry({ kind, id, attempt, at, isVerified, body, status }: Json): HTMLElement {
  const isGood = Number(status) < 300
  const summary = element(
    'summary',
    {},
    isVerified === true ? undefined : element('span', { class: 'tag bad' }, 'not signed'),
    element('strong', {}, isVerified === true ? nameOf(kind, body) : 'refused'),
    Number(attempt) > 1 ? element('span', { class: 'tag warn' }, `try ${attempt}`) : undefined,
    element('span', { class: isGood ? 'tag' : 'tag bad' }, `answered ${status}`),
    element('span', { class: 'soft mono' }, new Date(Number(at)).toLocaleTimeString('en-GB')),
    element('code', { class: 'soft' }, clip(String(id), 80)),
  )
  const content =
    isVerified === true
      ? code(clip(indented(String(body)) ?? String(body), MAX_BODY_CHARACTERS), 'What was sent')
      : element('p', {}, 'Not signed with the secret of this receiver, or too old.')
  return element('li', {}, element('details', {}, summary, content))
}

/** `verification`, the name of the event, or what else the server tells. */
function nameOf(kind: unknown, body: unknown): string {
  if (kind === 'verification') return 'verification'
  const { name, type } = asObject(parse(String(body)))
  return clip(asText(name) ?? asText(type) ?? 'delivery', 100)
}
