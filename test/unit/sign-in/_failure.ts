/** How a provider failed: what the person reads, and what the operator does. */
import { inspect } from 'node:util'
import {
  UpstreamFault,
  UpstreamRefusedError,
  UpstreamUnavailableError,
} from '../../../src/sign-in/upstream/upstream.ts'

export interface Failure {
  readonly code: string
  readonly fault: string
  readonly message: string
  readonly operator: string
  /** All that a log could print. */
  readonly whole: string
}

export async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof UpstreamRefusedError || error instanceof UpstreamUnavailableError)) {
    throw new Error('It must fail with one of the two errors.', { cause: error })
  }
  const { cause } = error
  if (!(cause instanceof UpstreamFault)) throw new Error('It has no cause for the operator.', { cause })
  return {
    ...{ code: error.code, fault: cause.code, message: error.message, operator: cause.message },
    whole: inspect(error, { depth: 20, showHidden: true }),
  }
}
