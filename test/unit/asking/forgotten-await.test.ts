/** A tool that asks and does not wait for the answer. */
import { expect, it, vi } from 'vitest'
import * as z from 'zod'
import { textOf } from '../_client.ts'
import { round } from './_rounds.ts'

it('a question without await → the tool’s result, and once a line in the log that says to await it', async () => {
  // The line is written once by each copy of the modules, and other files of this thread may have had theirs.
  vi.resetModules()
  const { createTool, MCPServer } = await import('../../../src/index.ts')
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  try {
    const t = createTool({
      id: 't',
      execute: (_input, ctx) => {
        void ctx.elicit('Sure?', z.object({ sure: z.boolean() }))
        return 'done'
      },
    })
    const server = new MCPServer({ name: 'a', version: '1', log: false, tools: { t } })
    for (let call = 0; call < 2; call++) expect(textOf(await round(server, { name: 't' }))).toBe('done')
    await expect.poll(() => warn.mock.calls.length).toBe(1)
    expect(JSON.parse(String(warn.mock.calls[0]![0]))).toMatchObject({
      level: 'warn',
      message: expect.stringContaining('await its answer before you return'),
    })
  } finally {
    warn.mockRestore()
  }
})
