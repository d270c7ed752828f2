/** The subscriptions of legacy clients in one process: one caller takes no more than a share. */
import { describe, expect, it } from 'vitest'
import { createMemorySubscriptions } from '../../src/subscriptions.ts'
import { subscriptionShares } from '../contract/subscription-shares.ts'

describe('createMemorySubscriptions', () => subscriptionShares(createMemorySubscriptions))

it.each([{ ttlMs: 0 }, { maxCharacters: -1 }, { maxCharacters: Number.NaN }, { ttlMs: '5' as never }])(
  '%o → TypeError that names the option',
  (options) => {
    expect(() => createMemorySubscriptions(options)).toThrow(
      new RegExp(`^"${Object.keys(options)[0]}".* must be a number`),
    )
  },
)
