/** Names of servers and stages in stores that several share. */
import { describe, expect, it } from 'vitest'
import { parseStage } from '../../../deploy/project/stages.ts'
import { serverName } from '../../../src/definition/server-name.ts'
import { stageOf } from '../../../src/definition/stage.ts'

describe('serverName', () => {
  it.each([
    ['shop', undefined, 'mayfly_shop'],
    ['my-shop', undefined, 'mayfly_my_shop'],
    ['my-shop', 'staging', 'mayfly_my_shop__staging'],
    ['shop', 'pr-12', 'mayfly_shop__pr_12'],
  ])('%s at stage %s → %s', (id, stage, name) => {
    expect(serverName(id, stage)).toBe(name)
  })

  it.each([
    ['my-shop', 'my_shop'],
    ['shop', 'Shop'],
    ['@a/shop', '@b/shop'],
    ['shop.eu', 'shop-eu'],
    ['a--b', 'a-b'],
    [`${'long-'.repeat(20)}a`, `${'long-'.repeat(20)}b`],
    ['日本', '中国'],
    ['\ud800', '\udc00'],
  ])('%s and %s have different names', (one, other) => {
    expect(serverName(one)).not.toBe(serverName(other))
  })

  it('an id that looks like a server and its stage, or like a digest, has a name of its own', () => {
    expect(serverName('shop--staging')).not.toBe(serverName('shop', 'staging'))
    expect(serverName('shop-', 'staging')).not.toBe(serverName('shop--', 'staging'))
    expect(serverName('a\0b')).not.toBe(serverName('b', 'a'))
    const digested = serverName('Shop').replace('mayfly_', '').replaceAll('_', '-')
    expect(serverName(digested)).not.toBe(serverName('Shop'))
  })

  it.each(['', 'a b', 'a_b', 'ä', 'a'.repeat(21), 'a\n', 'Staging', 'prod'])(
    'stage %j → TypeError',
    (stage) => {
      expect(() => serverName('shop', stage)).toThrow(TypeError)
    },
  )
})

describe('stageOf', () => {
  it.each([undefined, null, 'staging', {}, { MAYFLY_STAGE: '' }, { MAYFLY_STAGE: undefined }])(
    '%j → no stage',
    (env) => {
      expect(stageOf(env)).toBeUndefined()
    },
  )

  it('reads MAYFLY_STAGE', () => {
    expect(stageOf({ MAYFLY_STAGE: 'pr-12' })).toBe('pr-12')
  })

  const REFUSED = [
    'a b',
    'a_b',
    '../x',
    ' ',
    'a'.repeat(21),
    'Staging',
    '-a',
    'a-',
    'a--b',
    '1a',
    'secrets',
    7,
  ]
  it.each(REFUSED)('MAYFLY_STAGE %j → TypeError that says what is allowed', (value) => {
    expect(() => stageOf({ MAYFLY_STAGE: value })).toThrow(
      /^MAYFLY_STAGE must be a name of 1 to 20 lower case letters, digits and single "-", a letter first/,
    )
  })

  it.each(['production', 'prod', 'Production', 'PROD'])(
    'MAYFLY_STAGE %j is not a stage → TypeError',
    (value) => {
      expect(() => stageOf({ MAYFLY_STAGE: value })).toThrow(
        'MAYFLY_STAGE names production, which is not a stage: without MAYFLY_STAGE, production is meant.',
      )
    },
  )

  it('the command line takes and refuses the same names', () => {
    const takes = (check: () => unknown): boolean => {
      try {
        check()
        return true
      } catch {
        return false
      }
    }
    for (const value of [
      ...REFUSED,
      'staging',
      'pr-12',
      'a',
      'a'.repeat(20),
      'preview',
      'production',
      'github',
    ])
      expect([value, takes(() => parseStage(String(value)))]).toEqual([
        value,
        takes(() => stageOf({ MAYFLY_STAGE: value })),
      ])
  })
})
