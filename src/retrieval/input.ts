/**
 * The input and output of both tools. Written as Standard Schemas by hand, so that no schema library is bundled, and numbers and filters
 * are also accepted as JSON strings, as models send them.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { textOf } from '../definition/error-text.ts'
import type { JsonSchema } from '../definition/schema.ts'
import { type Filter, parseFilter } from './filter.ts'

/** The input from a model. */
export interface RetrievalArguments {
  /** The question, or the words to search for. */
  readonly queryText: string
  /** How many chunks to return. Default 10. */
  readonly topK?: number | string | undefined
  readonly filter?: Filter | string | null | undefined
}

export interface RetrievalInput {
  readonly queryText: string
  readonly topK: number | undefined
  readonly filter: unknown
}

/** A chunk in the tools' output. */
export interface Source {
  readonly id: string
  readonly metadata: Record<string, unknown>
  /** Only with `includeVectors`. */
  readonly vector?: readonly number[]
  readonly score: number
  /** The chunk's text. */
  readonly document: string
}

export interface RetrievalOutput {
  /** Best first: the metadata of each chunk with its `text`; `createGraphRAGTool` returns only the text. */
  readonly relevantContext: unknown[]
  readonly sources: Source[]
  /** A note about these results, such as that reranking took too long. */
  readonly notice?: string
}

export const MAX_TOP_K = 1000
const MAX_QUERY_CHARACTERS = 32_768

export type InputSchema = StandardSchemaV1<RetrievalArguments, RetrievalInput>
export type OutputSchema = StandardSchemaV1<RetrievalOutput, RetrievalOutput>

const QUERY_TEXT: JsonSchema = {
  type: 'string',
  minLength: 1,
  description:
    'What to search for: the question itself, or its keywords. Searches by meaning, so synonyms are not needed.',
}
const TOP_K: JsonSchema = {
  type: 'integer',
  minimum: 1,
  maximum: MAX_TOP_K,
  default: 10,
  description: 'How many passages to return: 3 for one fact, 20 for an overview.',
}
const FILTER: JsonSchema = {
  type: 'object',
  description:
    'Return only passages whose metadata meets these conditions, such as {"lang": "en", "year": {"$gte": 2024}}. Operators: $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $contains; $and, $or and $not combine them. Omit it to search everything.',
}

export function createInputSchema({ withFilter }: { readonly withFilter: boolean }): InputSchema {
  const properties = { queryText: QUERY_TEXT, topK: TOP_K, ...(withFilter && { filter: FILTER }) }
  return toStandard(
    { type: 'object', properties, required: ['queryText'] },
    (value): StandardSchemaV1.Result<RetrievalInput> => {
      const issues: StandardSchemaV1.Issue[] = []
      const given = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
      const queryText = readQuery(given.queryText, issues)
      const topK = readTopK(given.topK, issues)
      const filter = withFilter ? readFilter(given.filter, issues) : undefined
      return issues.length > 0 ? { issues } : { value: { queryText, topK, filter } }
    },
  )
}

const SOURCE: JsonSchema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    metadata: { type: 'object' },
    vector: { type: 'array', items: { type: 'number' } },
    score: { type: 'number' },
    document: { type: 'string' },
  },
  required: ['id', 'metadata', 'score', 'document'],
}

export function createOutputSchema(): OutputSchema {
  const json: JsonSchema = {
    type: 'object',
    properties: {
      relevantContext: { type: 'array', description: 'The found passages, best first.' },
      sources: { type: 'array', items: SOURCE },
      notice: { type: 'string' },
    },
    required: ['relevantContext', 'sources'],
  }
  return toStandard(json, (value) => ({ value: value as RetrievalOutput }))
}

function toStandard<Input, Output>(
  json: JsonSchema,
  validate: (value: unknown) => StandardSchemaV1.Result<Output>,
): StandardSchemaV1<Input, Output> {
  const jsonSchema = { input: () => json, output: () => json }
  const standard: StandardSchemaV1.Props<Input, Output> & { jsonSchema: object } = {
    version: 1,
    vendor: 'mayfly',
    validate,
    jsonSchema,
  }
  return { '~standard': standard }
}

function readQuery(given: unknown, issues: StandardSchemaV1.Issue[]): string {
  if (typeof given === 'string' && given.trim() !== '' && given.length <= MAX_QUERY_CHARACTERS) return given
  issues.push({
    path: ['queryText'],
    message: `expected a string of 1 to ${MAX_QUERY_CHARACTERS} characters`,
  })
  return ''
}

function readTopK(given: unknown, issues: StandardSchemaV1.Issue[]): number | undefined {
  if (given === undefined || given === null || given === '') return undefined
  const number = typeof given === 'string' ? Number(given) : given
  if (isTopK(number)) return number
  issues.push({ path: ['topK'], message: `expected a whole number from 1 to ${MAX_TOP_K}` })
  return undefined
}

function readFilter(given: unknown, issues: StandardSchemaV1.Issue[]): unknown {
  try {
    parseFilter(given)
  } catch (error) {
    issues.push({ path: ['filter'], message: textOf(error) })
  }
  return given
}

export function isTopK(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_TOP_K
}
