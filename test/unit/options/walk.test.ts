/** Every function of every entry point refuses unknown options, at every depth: an ignored one could leave open what it should close. */
import { describe, expect, it } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { ADAPTERS } from './_adapters.ts'
import { AUTH } from './_auth.ts'
import { CLIENTS } from './_clients.ts'
import { RETRIEVAL } from './_retrieval.ts'
import { SERVERS } from './_servers.ts'
import { SIGN_IN } from './_sign-in.ts'
import { errorOf, namesIn, placesIn, type Takers, UNKNOWN, wrongValues } from './_walk.ts'

const ALL: { readonly [entry: string]: Takers } = {
  ...SERVERS,
  ...CLIENTS,
  ...ADAPTERS,
  ...RETRIEVAL,
  'mayfly-mcp/auth': AUTH,
  ...SIGN_IN,
}

const entries = Object.keys(manifest.exports)
  .filter((entry) => entry !== './package.json')
  .map((entry) => entry.replace('.', 'mayfly-mcp'))

const takers = Object.entries(ALL).flatMap(([entry, functions]) =>
  Object.entries(functions).flatMap(([name, given]) =>
    typeof given === 'string' ? [] : [given].flat().map((taker) => ({ name: `${entry}: ${name}`, taker })),
  ),
)

describe.each(entries)('%s', (entry) => {
  it('each of its values is in the list, and no other', async () => {
    const values: object = await import(/* @vite-ignore */ entry)
    expect(Object.keys(ALL[entry] ?? {}).sort()).toEqual(Object.keys(values).sort())
  })
})

/** The bindings of a platform, which may be anything, and what the server checks that has the tool. */
const ANYTHING = new Set(['env', 'inputSchema', 'outputSchema', 'task'])

describe.each(takers)('$name', ({ taker }) => {
  const { options, open = {}, misspelt = {}, onlyRefusals = false } = taker

  it.runIf(!onlyRefusals)('valid options are accepted', async () => {
    expect((await errorOf(taker, options))?.message ?? '').not.toMatch(
      /has no option|needs an object with options/,
    )
  })

  it('an unknown name is refused at every depth that is not open', async () => {
    for (const place of placesIn(options)) {
      const near = misspelt[place.path]
      const isOpen = open[place.path] !== undefined || near !== undefined
      const error = await errorOf(taker, place.with(near ?? UNKNOWN))
      if (isOpen && near === undefined) {
        expect([place.path, error?.message ?? '']).toEqual([
          place.path,
          expect.not.stringContaining(`has no option "${UNKNOWN}`),
        ])
        continue
      }
      expect([place.path, error?.name, error?.message]).toEqual([
        place.path,
        'TypeError',
        expect.stringMatching(`has no option "${near ?? UNKNOWN}": (its options are|did you mean)[^\\n]*$`),
      ])
    }
  })

  it('a value of another kind is refused for every option, at every depth', async () => {
    for (const place of placesIn(options)) {
      const unknown = await errorOf(taker, place.with(misspelt[place.path] ?? UNKNOWN))
      for (const name of namesIn(unknown?.message ?? '')) {
        const at = [place.path, name].join('.')
        const refusal = await errorOf(taker, place.with(name, NaN))
        if (!ANYTHING.has(name)) expect([at, refusal?.name]).toEqual([at, expect.stringMatching(/Error$/)])
        for (const value of wrongValues(refusal?.message ?? '')) {
          const error = await errorOf(taker, place.with(name, value))
          expect([at, value, error?.name]).toEqual([at, value, 'TypeError'])
          expect([at, value, error?.message]).toEqual([at, value, expect.stringMatching(name)])
        }
      }
    }
  })

  it('what the list says is open exists', () => {
    const paths = placesIn(options).map(({ path }) => path)
    for (const path of [...Object.keys(open), ...Object.keys(misspelt)]) expect(paths).toContain(path)
  })
})
