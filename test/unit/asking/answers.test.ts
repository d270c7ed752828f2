/** The client helpers of `mayfly-mcp/testing`. */
import { describe, expect, it } from 'vitest'
import {
  accept,
  acceptWithDefaults,
  applyDefaults,
  cancel,
  decline,
  getDefaults,
  type RequestedSchema,
  reject,
  validate,
} from '../../../src/testing.ts'

const form: RequestedSchema = {
  properties: {
    name: { type: 'string', minLength: 2 },
    age: { type: 'integer', minimum: 0, default: 30 },
    plan: { type: 'string', enum: ['free', 'paid'], default: 'free' },
    tags: { type: 'array', items: { anyOf: [{ const: 'a' }, { const: 'b' }] }, maxItems: 1 },
    agreed: { type: 'boolean' },
  },
  required: ['name'],
}

describe('the answers of a client', () => {
  it('are made by name', () => {
    expect([accept(), accept({ name: 'Ada' }), decline(), reject(), cancel()]).toEqual([
      { action: 'accept' },
      { action: 'accept', content: { name: 'Ada' } },
      { action: 'decline' },
      { action: 'decline' },
      { action: 'cancel' },
    ])
  })

  it('take the defaults of the form where they say nothing', () => {
    expect(getDefaults(form)).toEqual({ age: 30, plan: 'free' })
    expect(applyDefaults(form, { age: 7 })).toEqual({ age: 7, plan: 'free' })
    expect(acceptWithDefaults(form, { name: 'Ada' })).toEqual({
      action: 'accept',
      content: { name: 'Ada', age: 30, plan: 'free' },
    })
  })

  it('are validated field by field', () => {
    expect(validate(form, { name: 'Ada', age: 1, plan: 'paid', tags: ['a'], agreed: true })).toEqual([])
    const faults = validate(form, { age: 1.5, plan: 'gold', tags: ['a', 'b'], agreed: 'yes' })
    expect(faults.map(({ field }) => field)).toEqual(['name', 'age', 'plan', 'tags', 'agreed'])
    expect(validate(form, { name: 'x', age: -1, tags: ['z'] }).map(({ field }) => field)).toEqual([
      'name',
      'age',
      'tags',
    ])
  })
})
