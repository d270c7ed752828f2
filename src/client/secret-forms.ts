/** The secrets of a server's configuration, in each form in which an error may quote them. */
import { isA } from '../definition/error-text.ts'
import type { ServerConfig } from './config.ts'

/** Minimum characters of a credential, and of a value that may be none, such as an argument: shorter ones are ordinary words. */
const MIN_CREDENTIAL = 4
const MIN_VALUE = 8
/** Headers that every client sends. */
const ORDINARY = /^(?:accept(?:-[\w-]+)?|cache-control|content-[\w-]+|origin|pragma|referer|user-agent)$/i

export const formsOfCredential = (credential: string): readonly string[] =>
  formsOf(credential, MIN_CREDENTIAL)

export function formsInConfig(config: ServerConfig): readonly string[] {
  const token = 'token' in config && typeof config.token === 'string' ? formsOfCredential(config.token) : []
  return [...token, ...valuesIn(config).flatMap((value) => formsOf(value, MIN_VALUE))]
}

function valuesIn(config: ServerConfig): readonly string[] {
  if ('url' in config) {
    const { url, headers, requestInit } = config
    const sent = [...Object.entries(headers ?? {}), ...entriesOf(requestInit?.headers)]
    const values = sent.flatMap(([name, value]) => (ORDINARY.test(name) ? [] : [value]))
    return [...values, ...secretsOfUrl(url)]
  }
  if (!('command' in config)) return []
  const { command, args = [], env = {} } = config
  // A command with its arguments in one text is a common mistake.
  return [...command.split(/\s+/).slice(1), ...args, ...Object.values(env)].flatMap(partsOf)
}

/** Of an argument or a variable: `--key=secret`, `Authorization: Bearer secret`, or a URL. */
function partsOf(argument: string): readonly string[] {
  const value = argument.slice(argument.indexOf('=') + 1)
  const parts = [argument, value, ...argument.split(/[\s=]+/)]
  return [...parts.filter((part) => !/^--[\w-]+$/.test(part)), ...secretsOfUrl(value)]
}

function secretsOfUrl(url: string | URL): readonly string[] {
  if (!URL.canParse(url)) return []
  const { username, password, search, searchParams, hash } = new URL(url)
  return [username, password, search, hash, ...searchParams.values()].flatMap((value) => [
    value,
    converted(value, decodeURIComponent),
  ])
}

function entriesOf(headers: RequestInit['headers']): readonly (readonly [string, string])[] {
  if (isA(headers, Headers)) return [...headers]
  return (Array.isArray(headers) ? headers : Object.entries(headers ?? {})) as [string, string][]
}

/** A value as it is, trimmed and escaped, and its parts between characters that may be escaped in another way. */
function formsOf(value: string, minimum: number): readonly string[] {
  const text = String(value)
  const forms = [text, text.trim(), converted(text, encodeURIComponent), JSON.stringify(text).slice(1, -1)]
  const parts = text.split(/[^\x21-\x7e]+/).filter((part) => part.length >= MIN_VALUE)
  return [...forms.filter((form) => form.length >= minimum), ...parts]
}

/** The value itself if it cannot be converted. */
function converted(value: string, convert: (value: string) => string): string {
  try {
    return convert(value)
  } catch {
    return value
  }
}
