/** A tool that asks and does not wait for the answer. In a file of its own, since the line is written once in a process. */
import { afterEach, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createTool } from '../../../src/index.ts'
import { createServer, textOf } from '../_client.ts'
import { round } from './_rounds.ts'

afterEach(() => vi.restoreAllMocks())

it('a question without await → the tool’s result, and a line in the log that says to await it', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const t = createTool({
    id: 't',
    execute: (_input, ctx) => {
      void ctx.elicit('Sure?', z.object({ sure: z.boolean() }))
      return 'done'
    },
  })
  const server = createServer({ tools: { t } })
  for (let call = 0; call < 2; call++) expect(textOf(await round(server, { name: 't' }))).toBe('done')
  await expect.poll(() => warn.mock.calls.length).toBe(1)
  expect(JSON.parse(String(warn.mock.calls[0]![0]))).toMatchObject({
    level: 'warn',
    message: expect.stringContaining('await its answer before you return'),
  })
})
