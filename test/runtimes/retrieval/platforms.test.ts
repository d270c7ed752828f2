/** The whole chain: this project's documentation is ingested, the example is built and served, and twenty questions are asked. */
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { cloudflare } from '../../../deploy/targets/cloudflare/target.ts'
import { deno } from '../../../deploy/targets/deno/target.ts'
import { lambda } from '../../../deploy/targets/lambda/target.ts'
import { node } from '../../../deploy/targets/node/target.ts'
import { CLIENTS } from '../../contract/clients.ts'
import { ingestDocs, ROOT } from '../../retrieval/_index.ts'
import { countRight, QUESTIONS } from '../../retrieval/_questions.ts'
import { serveArtefact } from '../_artefact.ts'
import { CWD as LAMBDA } from '../lambda/_function.ts'

const ENTRY = join(ROOT, 'examples/retrieval/server.ts')

interface Answer {
  readonly relevantContext: readonly unknown[]
  readonly sources: readonly { readonly metadata: { readonly source: string; readonly text: string } }[]
}

describe.each([
  ['workerd', cloudflare, undefined],
  ['deno', deno, undefined],
  ['AWS’s runtime client for Lambda', lambda, LAMBDA],
  ['Node', node, undefined],
] as const)('examples/retrieval on %s', (_, target, cwd) => {
  beforeAll(() => {
    ingestDocs()
  })

  it('finds the page that answers, for at least 18 of 20 questions, in both eras', async () => {
    const served = await serveArtefact(ENTRY, target, cwd)
    try {
      for (const { connect } of [CLIENTS[0]!, CLIENTS.at(-1)!]) {
        await using connection = await connect(served.url)
        const ask = async (name: string, args: Record<string, unknown>) => {
          const { structuredContent, isError } = await connection.call(name, args)
          expect(isError).not.toBe(true)
          return structuredContent as Answer
        }
        const { right, wrong } = await countRight(async (queryText) => {
          const { sources } = await ask('search', { queryText, topK: '3' })
          return sources.map(({ metadata }) => metadata.source)
        })
        expect([wrong, right]).toEqual([
          wrong,
          expect.toSatisfy((count: number) => count >= 18 && count <= QUESTIONS.length),
        ])

        const filtered = await ask('search', {
          queryText: QUESTIONS[0]![0],
          filter: { source: 'docs/cli.md' },
        })
        expect(new Set(filtered.sources.map(({ metadata }) => metadata.source))).toEqual(
          new Set(['docs/cli.md']),
        )
        const graph = await ask('connections', { queryText: QUESTIONS[0]![0], topK: 5 })
        expect(graph.relevantContext).toHaveLength(5)
      }
    } finally {
      await served.stop()
    }
  })
})
