/**
 * Writes `docs/degradation.md` from the degradation matrix, so that the two cannot disagree.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Era, Feature } from '../src/definition/context.ts'
import { availability, MATRIX } from '../src/interaction/matrix.ts'

const FILE = new URL('../docs/degradation.md', import.meta.url)

const HEAD = `# What works where

<!-- Written by \`npm run docs\` from src/interaction/matrix.ts: change it there. -->

A stateless server cannot do everything that one with sessions can. What cannot work is never advertised, \`ctx.can(feature)\`
says so in the request at hand, and this table says it beforehand. *Modern* clients speak MCP 2026-07-28, *legacy* ones
2025-03-26 to 2025-11-25.

A dash means not available; the notes say why, and what to do.

| feature | modern | legacy |
|---|---|---|
`

function cell(feature: Feature, era: Era): string {
  const { needs, unavailable } = MATRIX[feature][era]
  if (unavailable !== undefined) return '–'
  return needs.length === 0
    ? 'yes'
    : `with ${needs.map((need) => (need === 'bus' ? 'a bus' : need)).join(' and ')}`
}

function notes(): string {
  const lines = new Map<string, string[]>()
  for (const feature of Object.keys(MATRIX) as Feature[]) {
    for (const era of ['modern', 'legacy'] as const) {
      const here = availability(feature, {
        era,
        hasBus: true,
        canStream: true,
        hasSecret: true,
        hasRendezvous: true,
        legacyPolicy: 'rendezvous',
        protocolVersion: '2025-11-25',
        clientCapabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
      })
      if (here.available) continue
      const text = `${here.reason} ${here.remedy}`
      lines.set(text, [...(lines.get(text) ?? []), `\`${feature}\` (${era})`])
    }
  }
  return [...lines].map(([text, features]) => `- ${features.join(', ')}: ${text}`).join('\n')
}

/** The whole file. */
export function renderDegradation(): string {
  const rows = (Object.keys(MATRIX) as Feature[]).map(
    (feature) => `| \`${feature}\` | ${cell(feature, 'modern')} | ${cell(feature, 'legacy')} |`,
  )
  return `${HEAD}${rows.join('\n')}

**Streaming** needs a platform that can send a response piece by piece, and a client that accepts \`text/event-stream\`. A
**bus** is configured on the server: see [change notifications](events.md).

${notes()}

Legacy \`resources/subscribe\` is acknowledged although it is not advertised, for clients that call it without looking; no
update follows.
`
}

/** The file as it is on disk. */
export function writtenDegradation(): string {
  return readFileSync(FILE, 'utf8')
}

if (import.meta.main) writeFileSync(FILE, renderDegradation())
