/** Forms for a server's questions to its client: elicitation, sampling, roots. */
import { isA } from '../../../src/definition/error-text.ts'
import { createArgumentForm } from './argument-form.ts'
import { button, code, element, nextId, outsideLink } from './dom.ts'
import { RpcError } from './exchange.ts'
import { labelled, readJson, writeJson } from './form.ts'
import { asText, type Json, pretty } from './json.ts'
import { createKept } from './kept.ts'

const MAX_OPEN = 20
let open = 0

/** The last answers to questions that have the same answer each time, by method. */
const lastAnswers = createKept<string>()
const KEPT = 'Kept for the next question of this kind.'

interface Question {
  readonly title: string
  readonly content: readonly HTMLElement[]
  /** The answer of each button; the first one sends the form. A function that throws leaves the question open. */
  readonly answers: { readonly [label: string]: () => Json }
}

/** Shows a question in `place`, and resolves with the user's answer. Rejects with the reason of `signal`, or if too many are open. */
export async function askUser(
  place: HTMLElement,
  method: string,
  params: Json,
  signal: AbortSignal,
): Promise<Json> {
  if (method === 'ping') return {}
  if (open >= MAX_OPEN)
    throw new RpcError({ code: -32000, message: `${MAX_OPEN} questions are open already` })
  open++
  const before = document.activeElement
  const question = toQuestion(method, params)
  let giveUp = (): void => {}
  let node = element('form')
  try {
    return await new Promise<Json>((resolve, reject) => {
      signal.throwIfAborted()
      giveUp = () => reject(signal.reason)
      signal.addEventListener('abort', giveUp)
      node = render(question, resolve, reject)
      place.append(node)
      node.focus()
    })
  } finally {
    open--
    signal.removeEventListener('abort', giveUp)
    const hadFocus = node.contains(document.activeElement)
    node.remove()
    const next =
      place.querySelector<HTMLElement>('.question') ?? (before instanceof HTMLElement ? before : undefined)
    if (hadFocus) next?.focus()
  }
}

function render(
  question: Question,
  resolve: (answer: Json) => void,
  reject: (reason: unknown) => void,
): HTMLFormElement {
  const id = nextId()
  const answerWith = (answer: () => Json): void => {
    try {
      resolve(answer())
    } catch (error) {
      // Other errors are shown at their field, and the question stays open.
      if (isA(error, RpcError)) reject(error)
    }
  }
  const buttons = Object.entries(question.answers).map(([label, answer], index) =>
    index === 0
      ? element('button', { type: 'submit', class: 'main' }, label)
      : button(label, () => answerWith(answer)),
  )
  const form = element(
    'form',
    { class: 'question', 'aria-labelledby': id, tabindex: '-1', novalidate: '' },
    element('h3', { id }, question.title),
    ...question.content,
    element('div', { class: 'buttons' }, ...buttons),
  )
  const [send] = Object.values(question.answers)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (send !== undefined) answerWith(send)
  })
  return form
}

function toQuestion(method: string, params: Json): Question {
  if (method === 'elicitation/create') return params.mode === 'url' ? visit(params) : fill(params)
  if (method === 'sampling/createMessage') return sample(params)
  if (method === 'roots/list') return roots()
  return unknown(method, params)
}

const REFUSALS = {
  Decline: () => ({ action: 'decline' }),
  Dismiss: () => ({ action: 'cancel' }),
}

function fill(params: Json): Question {
  const form = createArgumentForm(params.requestedSchema, 'Answer')
  return {
    title: 'The server asks',
    content: [element('p', {}, asText(params.message) ?? ''), form.node, element('div', {}, form.toggle)],
    answers: { 'Send answer': () => ({ action: 'accept', content: form.read() }), ...REFUSALS },
  }
}

function visit(params: Json): Question {
  const url = asText(params.url) ?? ''
  return {
    title: 'The server asks to open a page',
    content: [element('p', {}, asText(params.message) ?? ''), element('p', {}, outsideLink(url))],
    answers: { 'I opened it': () => ({ action: 'accept' }), ...REFUSALS },
  }
}

function sample(params: Json): Question {
  const input = element('textarea', { rows: '4' })
  input.value = lastAnswers.get('sampling') ?? ''
  const text = labelled({ title: 'What the model says', isRequired: true, hint: KEPT }, input)
  return {
    title: 'The server asks the model of its client',
    content: [code(pretty(params), 'The request for the model'), text],
    answers: {
      'Send answer': () => {
        lastAnswers.set('sampling', input.value)
        return {
          role: 'assistant',
          content: { type: 'text', text: input.value },
          model: 'a person in the playground',
          stopReason: 'endTurn',
        }
      },
      Decline: refuse,
    },
  }
}

function roots(): Question {
  const input = element('textarea', { rows: '3', class: 'mono' })
  input.value = lastAnswers.get('roots') ?? 'file:///home/me/project'
  const text = labelled({ title: 'Roots, one URI per line', isRequired: false, hint: KEPT }, input)
  const lines = (): string[] => input.value.split('\n').map((line) => line.trim())
  return {
    title: 'The server asks for the roots',
    content: [text],
    answers: {
      'Send answer': () => {
        lastAnswers.set('roots', input.value)
        const uris = lines().filter((uri) => uri !== '')
        return { roots: uris.map((uri) => ({ uri })) }
      },
      Decline: refuse,
    },
  }
}

function unknown(method: string, params: Json): Question {
  const input = element('textarea', { rows: '4', class: 'mono' })
  writeJson(input, {})
  const text = labelled({ title: 'Result as JSON', isRequired: false }, input)
  return {
    title: `The server asks: ${method.slice(0, 100)}`,
    content: [code(pretty(params), 'The request'), text],
    answers: { 'Send answer': () => (readJson(input) ?? {}) as Json, Decline: refuse },
  }
}

function refuse(): never {
  throw new RpcError({ code: -1, message: 'the user declined' })
}
