/** Whether a result keeps what the tool's `outputSchema` promises (MCP 2026-07-28, "Output Schema"). */
import { findOutputFault } from '../../../src/client/output-schema.ts'
import { isObject, type Json, textOfJson } from './json.ts'

/** What the check does not read: the schema is untrusted, and one pattern can block the page. */
const UNREAD =
  /"(?:\$ref|\$dynamicRef|pattern|patternProperties|format|not|if|contains|propertyNames|uniqueItems|multipleOf|(?:unevaluated|dependent|(?:min|max)Prop)\w+)":/

export interface OutputCheck {
  /** For the line above the result. */
  readonly word: string
  /** What the check leaves out, for a tooltip. */
  readonly note?: string
  /** What is wrong, with the path. */
  readonly fault?: string
}

/** Undefined without a schema, and for a failure, which may have any form. */
export function checkOutput(schema: unknown, { structuredContent, isError }: Json): OutputCheck | undefined {
  if (!isObject(schema) || isError === true) return undefined
  const fault =
    structuredContent === undefined
      ? 'structuredContent is missing'
      : findOutputFault(schema, structuredContent)
  if (fault !== undefined) return { word: 'does not match outputSchema', fault }
  if (!UNREAD.test(textOfJson(schema) ?? '"$ref":')) return { word: 'matches outputSchema' }
  return {
    word: 'matches outputSchema, as far as checked',
    note: 'Formats, patterns, references and conditions are not checked here.',
  }
}
