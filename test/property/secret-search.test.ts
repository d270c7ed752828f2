/** A secret is found in what a bundler writes, whatever it is made of and however it is written down. */
import { Buffer } from 'node:buffer'
import { build, type Loader, stop, transform } from 'esbuild'
import fc from 'fast-check'
import { zipSync } from 'fflate'
import { afterAll, describe, expect, test } from 'vitest'
import { findSecretIn } from '../../deploy/build/secret-search.ts'
import { check } from './_seeded.ts'

afterAll(() => stop())

/** What an `.env` file can hold: quotes, backslashes, line breaks, any script, and what escapes look like. */
const value = fc
  .oneof(
    fc.stringMatching(/^[\w+/=-]{8,40}$/),
    fc.string({ unit: 'grapheme', minLength: 8, maxLength: 30 }),
    fc.string({
      unit: fc.constantFrom(
        'a',
        'é',
        '日',
        '😀',
        '"',
        "'",
        '`',
        '\\',
        '\n',
        '$',
        '{',
        '%',
        ' ',
        '<',
        '/',
        '-',
        'n',
      ),
      minLength: 10,
      maxLength: 30,
    }),
  )
  .filter((text) => text.trim().length >= 8)

const isFound = (secret: string, content: string | Uint8Array): boolean =>
  findSecretIn(typeof content === 'string' ? Buffer.from(content) : content, [
    { name: 'SECRET', from: '.env', value: secret },
  ]) !== undefined

/** Every file that the bundler writes for an entry. */
async function bundle(
  contents: string,
  loader: Loader,
  options: { charset: 'ascii' | 'utf8'; minify: boolean; sourcemap: 'linked' | 'inline' | 'external' },
): Promise<Uint8Array[]> {
  const { outputFiles } = await build({
    stdin: { contents: `import text from 'secret:value'\nexport default [text]`, loader: 'js' },
    plugins: [
      {
        name: 'secret',
        setup(setup) {
          setup.onResolve({ filter: /^secret:/ }, ({ path }) => ({ path, namespace: 'secret' }))
          setup.onLoad({ filter: /./, namespace: 'secret' }, () => ({ contents, loader }))
        },
      },
    ],
    bundle: true,
    write: false,
    outfile: 'out.js',
    format: 'esm',
    logLevel: 'silent',
    ...options,
  })
  return outputFiles.map((file) => file.contents)
}

const options = fc.record({
  charset: fc.constantFrom('ascii' as const, 'utf8' as const),
  minify: fc.boolean(),
  sourcemap: fc.constantFrom('linked' as const, 'inline' as const, 'external' as const),
})

describe('found in every file that esbuild writes', () => {
  const literal = (text: string): string => JSON.stringify(text)
  const template = (text: string): string => `\`${text.replaceAll(/[\\`$]/g, '\\$&')}\``

  test.for([
    ['a string', (text) => `export default ${literal(text)}`, 'js'],
    ['a template', (text) => `export default ${template(text)}`, 'js'],
    [
      'a template with values around it',
      (text) => `export default (a) => \`\${a}${template(text).slice(1, -1)}\${a}\``,
      'js',
    ],
    ['a part of a longer string', (text) => `export default ${literal(`Bearer ${text}; q=1`)}`, 'js'],
    ['a property', (text) => `export default { ${literal(text)}: 1 }`, 'js'],
    ['JSON', (text) => JSON.stringify({ deep: [text] }), 'json'],
    ['JSON within a string', (text) => `export default ${literal(JSON.stringify({ key: text }))}`, 'js'],
    ['a text module', (text) => text, 'text'],
    ['a data URL', (text) => `before ${text} after`, 'dataurl'],
    ['base64', (text) => `before ${text} after`, 'base64'],
    ['bytes', (text) => `before ${text} after`, 'binary'],
  ] as const satisfies [string, (text: string) => string, Loader][])('as %s', async ([, write, loader]) => {
    await check(
      fc.asyncProperty(value, options, async (secret, how) => {
        const files = await bundle(write(secret), loader, how)
        const [code] = files.filter((file) => !Buffer.from(file).includes('"mappings"'))
        expect(isFound(secret, code ?? new Uint8Array())).toBe(true)
        // The source is in the map as well.
        if (loader === 'js') for (const file of files) expect(isFound(secret, file)).toBe(true)
      }),
      60,
    )
  })
})

test('found under several layers: a script in a string in a map in base64 in a zip', async () => {
  await check(
    fc.asyncProperty(value, async (secret) => {
      const { code } = await transform(`export default ${JSON.stringify(`x = ${JSON.stringify(secret)}`)}`, {
        sourcemap: 'inline',
        minify: true,
      })
      expect(isFound(secret, zipSync({ 'index.mjs': Buffer.from(code) }))).toBe(true)
      expect(isFound(secret, encodeURIComponent(code))).toBe(true)
      expect(isFound(secret, `{"a":"${Buffer.from(code).toString('base64url')}"}`)).toBe(true)
    }),
    100,
  )
})

test('found in base64 at any place of any other text, and by its words in a query', async () => {
  await check(
    fc.property(value, fc.string(), fc.string(), (secret, before, after) => {
      const all = Buffer.from(before + secret + after)
      // Glued to letters that base64 also has.
      expect(isFound(secret, `path/to${all.toString('base64')}x`)).toBe(true)
      expect(isFound(secret, new URLSearchParams({ q: secret }).toString())).toBe(true)
    }),
    500,
  )
})

/** Ways to write text down; each of them leaves no line break, or one that counts. */
const writings = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => text.replaceAll('\n', '\r\n'),
  (text) => `key: |\n    ${text.replaceAll('\n', '\n    ')}\n`,
  (text) => `-----BEGIN SECRET-----\n${text}\n-----END SECRET-----`,
  (text) => JSON.stringify({ text }),
  // As some libraries do, so that it can be a part of a page.
  (text) => JSON.stringify(text).replaceAll('/', '\\/').replaceAll('+', '\\u002B'),
  (text) => `x = ${JSON.stringify(JSON.stringify([text]))}`,
  (text) => `const text = "${text.replaceAll('\n', '\\\n')}"`,
  (text) => new URLSearchParams({ text }).toString(),
  (text) => encodeURIComponent(encodeURIComponent(text)),
)

const inLines = (text: string, width: number): string =>
  text.replaceAll(new RegExp(`.{${width}}(?=.)`, 'g'), '$&\n')

test('found in base64 in lines of any length, however they are written down', async () => {
  const text = fc.string({ maxLength: 20 })
  const width = fc.integer({ min: 1, max: 76 })
  const alphabet = fc.constantFrom('base64' as const, 'base64url' as const)
  await check(
    fc.property(
      value,
      text,
      text,
      alphabet,
      width,
      writings,
      (secret, before, after, encoding, columns, write) => {
        const encoded = Buffer.from(before + secret + after).toString(encoding)
        expect(isFound(secret, write(inLines(encoded, columns)))).toBe(true)
      },
    ),
    1000,
  )
})

test('found in base64 in lines of something that escapes it', async () => {
  const width = fc.integer({ min: 16, max: 76 })
  await check(
    fc.property(value, fc.string(), width, writings, (secret, before, columns, write) => {
      const encoded = Buffer.from(JSON.stringify({ before, secret })).toString('base64')
      expect(isFound(secret, write(inLines(encoded, columns)))).toBe(true)
    }),
    500,
  )
})

test('text like base64 of any length is searched in time with its length', () => {
  for (const part of ['a', 'abcdefghijkl ', 'abcdefghijkl\n', 'abcdefghijkl \n  ', '\\', '%25', '\\\\n'])
    expect(isFound('a secret value', part.repeat(200_000))).toBe(false)
})

test('a key of several lines is found however it is indented, or in one line', () => {
  const key =
    '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQ==\n-----END PRIVATE KEY-----\n'
  expect(isFound(key, `const key = \`\n    ${key.replaceAll('\n', '\n    ')}\``)).toBe(true)
  expect(isFound(key, key.replaceAll('\n', '\r\n'))).toBe(true)
  expect(isFound(key, key.replaceAll('\n', ''))).toBe(true)
  expect(isFound(key, 'pem = "-----BEGIN PRIVATE KEY-----\\n" + body + "\\n-----END PRIVATE KEY-----"')).toBe(
    false,
  )
})

test('a value that only resembles it is not found', async () => {
  const alike = fc.tuple(fc.stringMatching(/^[a-z]{16,40}$/), fc.nat(), fc.stringMatching(/^[A-Z]$/))
  await check(
    fc.asyncProperty(alike, async ([secret, at, letter]) => {
      // The first and the last letter share a character of base64 with what is around.
      const place = 1 + (at % (secret.length - 2))
      const other = secret.slice(0, place) + letter + secret.slice(place + 1)
      const { code } = await transform(`export default ${JSON.stringify(other)}`, { sourcemap: 'inline' })
      expect(isFound(secret, code)).toBe(false)
      const dataUrl = `data:text/plain;base64,${Buffer.from(` ${other} `).toString('base64')}`
      expect(isFound(secret, dataUrl)).toBe(false)
    }),
    200,
  )
})
