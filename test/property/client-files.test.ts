/** `mayfly add` changes nothing else of a client's file, whatever is in it. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonFormat } from '../../deploy/add/json-format.ts'
import { check } from './_seeded.ts'

const SPACE = fc.constantFrom(
  '',
  ' ',
  '\n',
  '\n  ',
  '\t',
  ' // note "x": {\n',
  ' /* { , } */ ',
  '\n/* a\n b */\n',
  ' // one, two\n',
  '\r// one,\r',
  '/**//***/',
)
const ADDITION = { key: 'mcpServers', entry: { url: 'https://shop.example/mcp' } }

/** JSON with comments, spaces and trailing commas. */
const { value: anyJson, object } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('1', '-2.50e3', 'true', 'null', '"a\\u0041\\"// no comment"', '""'),
    tie('object'),
    fc
      .tuple(fc.array(fc.tuple(SPACE, tie('value')), { maxLength: 3 }), SPACE)
      .map(([items, end]) => `[${items.map((item) => item.join('')).join(',')}${end}]`),
  ),
  object: fc
    .tuple(
      fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'servers', 'x y', 'inputs'), SPACE, tie('value')), {
        maxLength: 4,
        selector: ([key]) => key,
      }),
      SPACE,
      fc.boolean(),
    )
    .map(([members, end, comma]) => {
      const list = members.map(([key, space, value]) => `${space}"${key}"${space}:${space}${value}`)
      return `{${list.join(',')}${comma && list.length > 0 ? ',' : ''}${end}}`
    }),
}))

/** Whether `before` is `after` with some characters left out. */
function isContained(before: string, after: string): boolean {
  let at = 0
  for (const character of after) if (character === before[at]) at++
  return at === before.length
}

it('an entry is added once, and every character of the file is still there, in order', async () => {
  await check(
    fc.property(object, anyJson, SPACE, fc.boolean(), (text, value, space, hasServers) => {
      const servers = `${space}"mcpServers":${space}{${space}"old":${value}${space}}`
      const before = hasServers ? `{${servers}${text === '{}' ? '' : `,"rest":${text}`}}` : text

      const after = jsonFormat.write(before, 'shop', ADDITION)

      expect(jsonFormat.read(after, 'mcpServers', 'shop')).toEqual(ADDITION.entry)
      expect(JSON.stringify(jsonFormat.read(after, 'mcpServers', 'old'))).toBe(
        JSON.stringify(jsonFormat.read(before, 'mcpServers', 'old')),
      )
      // An object without members only loses the space before its closing brace.
      expect(isContained(before.replaceAll(/\s/g, ''), after.replaceAll(/\s/g, ''))).toBe(true)
      expect(jsonFormat.read(jsonFormat.write(after, 'shop', ADDITION), 'mcpServers', 'shop')).toEqual(
        ADDITION.entry,
      )
    }),
    500,
  )
})
