/** How the examples are called: as a modern client does, which answers what it is asked. */
import type { MCPServer } from '../../src/index.ts'
import { type Answer, modern, textOf } from '../unit/_client.ts'
import { converse } from '../unit/asking/_rounds.ts'

type Answerable = Pick<MCPServer, 'handle'>

/** The result of a tool; `answers` are given to its questions, one after another. */
export async function call(
  server: Answerable,
  name: string,
  args: object = {},
  answers: object[] = [],
): Promise<{ text: string | undefined; structuredContent?: unknown; isError?: boolean; error: unknown }> {
  const left = [...answers]
  const { answer } = await converse(server, { name, arguments: args }, () => left.shift())
  return { ...answer.result, text: textOf(answer), error: answer.error }
}

export const list = async (server: Answerable, what: string): Promise<Record<string, unknown>[]> =>
  (await modern(server, `${what}/list`)).result![what] as Record<string, unknown>[]

export const request = (
  server: Answerable,
  method: string,
  params: Record<string, unknown>,
): Promise<Answer> => modern(server, method, params)
