/** The life of a task (docs/tasks.md): who does what, from top to bottom. */
import { svg, text } from './frame.ts'

const [CLIENT, SERVER, STORE] = [62, 262, 446]
const [BOX_LEFT, BOX_RIGHT] = [SERVER - 58, SERVER + 58]
const [SAVED_LEFT, SAVED_RIGHT] = [STORE - 58, STORE + 58]
const TOP = 64
const END = 520

export function taskPicture(): string {
  return svg({
    title: 'The life of a task',
    description:
      'A client calls a tool. The tool runs in three short pieces: it loads and sleeps, wakes and asks, and ends after the answer. Between the pieces nothing runs; the store keeps the journal.',
    bottom: END,
    notes: [
      'What wakes a task is the runner: an alarm, a queue, a schedule, or a process that polls.',
      'A piece that is killed is run again from its last step in the store.',
    ],
    body: [
      '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>',
      ...(
        [
          [CLIENT, 'client'],
          [SERVER, 'server'],
          [STORE, 'store'],
        ] as const
      ).flatMap(([x, name]) => [
        text(x, TOP + 10, name, 'text strong', 'middle'),
        `<line class="lane" x1="${x}" x2="${x}" y1="${TOP + 20}" y2="${END}"/>`,
      ]),
      ...ran(96, 84, ['load,', 'then sleep']),
      ...said(120, ['tools/call'], 'to server'),
      ...said(166, ['task, working'], 'to client'),
      ...saved(112, ['load done,', 'due at …']),
      arrow(BOX_RIGHT, 138, SAVED_LEFT),
      ...nothingRuns(206),
      ...saved(222, ['wake up']),
      ...ran(230, 92, ['ask']),
      arrow(SAVED_LEFT, 240, BOX_RIGHT),
      ...saved(276, ['question', 'asked']),
      arrow(BOX_RIGHT, 302, SAVED_LEFT),
      ...said(304, ['tasks/get:', 'input_required'], 'to client'),
      ...nothingRuns(348),
      ...ran(372, 80, ['publish']),
      ...said(398, ['tasks/update'], 'to server'),
      ...saved(404, ['the result']),
      arrow(BOX_RIGHT, 422, SAVED_LEFT),
      ...said(500, ['tasks/get:', 'completed'], 'from store'),
    ],
  })
}

/** A piece of the tool, on the server. */
function ran(y: number, height: number, lines: readonly string[]): readonly string[] {
  return [
    `<rect class="solid" x="${BOX_LEFT}" y="${y}" width="${BOX_RIGHT - BOX_LEFT}" height="${height}" rx="6"/>`,
    ...centred(SERVER, y + height / 2, lines, 'on-key'),
  ]
}

/** What the store keeps. */
function saved(y: number, lines: readonly string[]): readonly string[] {
  const height = lines.length === 1 ? 36 : 52
  return [
    `<rect class="outlined" x="${SAVED_LEFT}" y="${y}" width="${SAVED_RIGHT - SAVED_LEFT}" height="${height}" rx="6"/>`,
    ...centred(STORE, y + height / 2, lines, 'text'),
  ]
}

/** A message of the client, or to it: its words are above its arrow. */
function said(
  y: number,
  lines: readonly string[],
  way: 'to server' | 'to client' | 'from store',
): readonly string[] {
  const middle = (CLIENT + BOX_LEFT) / 2
  return [
    ...lines.map((line, index) =>
      text(middle, y - 8 - (lines.length - 1 - index) * 20, line, 'text', 'middle'),
    ),
    way === 'to server'
      ? arrow(CLIENT, y, BOX_LEFT)
      : arrow(way === 'to client' ? BOX_LEFT : STORE, y, CLIENT),
  ]
}

/** On the server's lane, which is covered there. */
function nothingRuns(y: number): readonly string[] {
  return [
    `<rect class="cover" x="${SERVER - 60}" y="${y - 11}" width="120" height="22"/>`,
    ...centred(SERVER, y, ['nothing runs'], 'soft'),
  ]
}

function centred(x: number, y: number, lines: readonly string[], name: string): readonly string[] {
  return lines.map((line, index) =>
    text(x, y + 5.5 + (index - (lines.length - 1) / 2) * 20, line, name, 'middle'),
  )
}

function arrow(from: number, y: number, to: number): string {
  return `<line class="arrow" x1="${from}" x2="${to}" y1="${y}" y2="${y}" marker-end="url(#head)"/>`
}
