/** Two functions in one project, which gives the secrets of both to both: each has its own, schedule included. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { supabase } from '../../../deploy/targets/supabase/target.ts'
import { toProjectVariables, variablePrefix } from '../../../deploy/targets/supabase/variables.ts'
import { type ServedArtefact, serveArtefact, withEnv } from '../_artefact.ts'

const NAMES = ['shop', 'bank'] as const
const tokenOf = (name: string): string => `${name}-token-of-32-characters-or-more`

/** As `mayfly deploy` stores them, one after the other, in one project. */
const project = Object.assign(
  { SHARED: 'both' },
  ...NAMES.map((name) =>
    Object.fromEntries(
      toProjectVariables(
        name,
        new Map([
          ['API_TOKEN', tokenOf(name)],
          ['WHO', name],
        ]),
      ),
    ),
  ),
) as Record<string, string>

const served = new Map<string, ServedArtefact>()
beforeAll(async () => {
  for (const name of NAMES)
    served.set(
      name,
      await serveArtefact('test/runtimes/supabase/_two.ts', withEnv(supabase, project), undefined, name),
    )
}, 60_000)
afterAll(async () => {
  for (const one of served.values()) await one.stop()
})

async function call(name: string, token: string): Promise<Response> {
  return fetch(served.get(name)!.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'who', arguments: {} },
    }),
  })
}

describe.each(NAMES)('%s', (name) => {
  it('reads its own variables by their plain names, while it loads and in a call; others of the project stay', async () => {
    const answer = await call(name, tokenOf(name))
    expect(await answer.text()).toContain([name, name, name, name, name, 'both'].join())
  })

  it('knows its own clients, and not those of the other', async () => {
    const other = NAMES.find((one) => one !== name)!
    expect((await call(name, tokenOf(name))).status).toBe(200)
    expect((await call(name, tokenOf(other))).status).toBe(401)
  })
})

it('the schedule, its URL and its secret have the name of the function', () => {
  const of = (name: string) => supabase.files({ name, hasTasks: true }).files['supabase/cron.sql']!
  for (const name of NAMES) {
    const made = [...of(name).matchAll(/(?:create_secret\('[^']*', |schedule\()'([^']+)'/g)].map(
      ([, at]) => at,
    )
    expect(made).toEqual([`${name}_tasks_url`, `${name}_tasks_secret`, `${name}-tasks`])
  }
})

it('mayfly doctor warns of a schedule with the names that all functions had, and not of its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-schedule-'))
  try {
    const write = (text: string) => writeFileSync(join(folder, 'supabase/cron.sql'), text)
    const warnings = async () => {
      const findings = await supabase.examine({ cwd: folder, entry: join(folder, 'server.ts'), name: 'shop' })
      return findings.map(({ message }) => message).filter((message) => message.includes('cron.sql uses'))
    }
    mkdirSync(join(folder, 'supabase'))
    write(supabase.files({ name: 'shop', hasTasks: true }).files['supabase/cron.sql']!)
    expect(await warnings()).toEqual([])
    write(
      "select vault.create_secret('x', 'tasks_url'); select cron.schedule('mayfly-tasks', '* * * * *', $$$$);",
    )
    expect(await warnings()).toEqual([expect.stringContaining('rename them to shop_tasks_url')])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it.each([
  ['shop', 'SHOP__'],
  ['my-shop', 'MY_SHOP__'],
  ['7-eleven', '_7_ELEVEN__'],
  // Supabase refuses secrets whose names begin so.
  ['supabase', '_SUPABASE__'],
])('the variables of %s begin with %s', (name, prefix) => {
  expect(variablePrefix(name)).toBe(prefix)
})

it('no prefix begins the variables of another function, whatever the names are made of', () => {
  const parts = ['shop', 'admin', 'mcp', 'supabase', 'x', '7']
  const names = [...parts, ...parts.flatMap((one) => parts.map((other) => `${one}-${other}`))]
  for (const name of names) {
    // `ADMIN_TOKEN` of shop, and `TOKEN` of shop-admin.
    const variables = [...names, ...parts.map((part) => `_${part}`)].map(
      (part) => `${variablePrefix(name)}${part.toUpperCase().replace('-', '_')}_TOKEN`,
    )
    for (const other of names.filter((one) => one !== name))
      expect(
        variables.filter((variable) => variable.startsWith(variablePrefix(other))),
        `${name}, ${other}`,
      ).toEqual([])
  }
})
