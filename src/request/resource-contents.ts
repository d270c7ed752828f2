/** What a resource returned, as MCP sends it. */
import { toBase64 } from '../definition/base64.ts'
import type { BlobResourceContents, TextResourceContents } from '../definition/content.ts'
import type { ReadOutput, ResourceContent } from '../definition/resource.ts'

/** The output of a read as `contents` in wire form. */
export function toResourceContents(
  output: ReadOutput,
  uri: string,
  mimeType: string | undefined,
): (TextResourceContents | BlobResourceContents)[] {
  if (typeof output === 'string') return [toContents({ text: output }, uri, mimeType)]
  if (output instanceof Uint8Array) return [toContents({ blob: output }, uri, mimeType)]
  if ('contents' in output) return output.contents.map((part) => toContents(part, uri, mimeType))
  if (Array.isArray(output)) return output.map((part: ResourceContent) => toContents(part, uri, mimeType))
  return [toContents(output as ResourceContent, uri, mimeType)]
}

function toContents(
  part: ResourceContent,
  uri: string,
  mimeType: string | undefined,
): TextResourceContents | BlobResourceContents {
  const type = part.mimeType ?? mimeType
  const facts = {
    uri: part.uri ?? uri,
    ...(type !== undefined && { mimeType: type }),
    ...(part._meta && { _meta: part._meta }),
  }
  if ('text' in part) return { ...facts, text: part.text }
  return { ...facts, blob: typeof part.blob === 'string' ? part.blob : toBase64(part.blob) }
}
