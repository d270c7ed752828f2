/** The one reader of files with variables: `.env`, `.dev.vars` and their kin. */
import { readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseEnv } from 'node:util'
import { CliError, printable } from '../terminal/cli-error.ts'
import { isSystemError, systemError } from '../terminal/system-error.ts'
import { isOwnFileOrWarn } from './owner.ts'

/** A variable whose value must not be published. */
export interface Secret {
  /** Where it was found, as a user would type it: a file, or `the environment`. */
  readonly from: string
  readonly name: string
  readonly value: string
}

/**
 * Variables that decide which code programs run, whom they trust or where they send a token, instead of configuring a server. A file never
 * sets them: who can write it could run code in every command, and in every program that it starts. So also the name of a file that may
 * name a command, as `credential_process` in AWS_SHARED_CREDENTIALS_FILE. A proxy may be set: it cannot read what is sent over TLS.
 */
const RESERVED = [
  /^(?:PATH|PATHEXT|COMSPEC|PSMODULEPATH|SYSTEMROOT|WINDIR|SHELL|SHELLOPTS|BASHOPTS|BASH_ENV|IFS|PS4|HOME|USERPROFILE|(?:LOCAL)?APPDATA)$/i,
  /^(?:EDITOR|VISUAL|PAGER|LESSOPEN|LESSCLOSE|BROWSER|(?:SSH|SUDO)_ASKPASS|GCONV_PATH|XDG_(?:CONFIG|DATA|CACHE|STATE|RUNTIME)_\w+)$/i,
  /^(?:LD|DYLD|NPM|PNPM|YARN|COREPACK|PYTHON|NAPI_RS)_|^PYTHON(?:PATH|HOME|STARTUP|USERBASE)$/i,
  /^NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED|REPL_EXTERNAL_MODULE|COMPILE_CACHE|V8_COVERAGE|REDIRECT_WARNINGS)$/i,
  /^GIT_(?:SSH|SSH_COMMAND|EXEC_PATH|ASKPASS|PROXY_COMMAND|EXTERNAL_DIFF|EDITOR|SEQUENCE_EDITOR|PAGER|DIR|COMMON_DIR|WORK_TREE|TEMPLATE_DIR|(?:CONFIG|TRACE|SSL_).*)$/i,
  /^(?:OPENSSL_(?:CONF|MODULES|ENGINES)|SSL_CERT_(?:FILE|DIR)|SSLKEYLOGFILE|(?:REQUESTS|CURL|AWS)_CA_BUNDLE|CURL_HOME)$/i,
  /^(?:BUN_(?:OPTIONS|(?:INSPECT|INSTALL|CONFIG|RUNTIME).*)|DENO_(?:CERT|DIR|TLS_CA_STORE)|ESBUILD_BINARY_PATH|MINIFLARE_WORKERD_PATH)$/i,
  /^(?:PERL5?(?:OPT|LIB|DB)|RUBY(?:OPT|LIB)|_JAVA_OPTIONS|(?:JAVA_TOOL|JDK_JAVA)_OPTIONS)$/i,
  /^(?:AWS_(?:CONFIG_FILE|SHARED_CREDENTIALS_FILE|WEB_IDENTITY_TOKEN_FILE|DATA_PATH|CONTAINER_.*)|DOCKER_(?:HOST|CONFIG|CONTEXT|CERT_PATH|TLS.*))$/i,
  /^(?:CLOUDFLARED_PATH|CLOUDFLARE_API_BASE_URL|WRANGLER_(?:(?:AUTH|DOCKER|OUTPUT_FILE)_.*|(?:TOKEN|REVOKE)_URL|C3_COMMAND|CACHE_DIR|LOG_PATH|REGISTRY_PATH))$/i,
]

/** Whether a file may not set this variable. */
export function isReserved(name: string): boolean {
  return RESERVED.some((pattern) => pattern.test(name))
}

export interface EnvFile {
  /** As a user would type it. */
  readonly from: string
  /** Those with a value, reserved ones too. */
  readonly variables: readonly Secret[]
  /** Why a tool that reads the file by itself would read something else. */
  readonly differs: 'belongs to another user' | 'is UTF-16' | undefined
}

/** Without variables if the file does not exist, or belongs to another user. Throws `CliError` if it cannot be read. */
export function readEnvFile(cwd: string, folder: string, name: string): EnvFile {
  const path = join(folder, name)
  const from = printable(relative(cwd, path))
  if (!isOwnFileOrWarn(path, from)) return { from, variables: [], differs: 'belongs to another user' }
  const { text, isUtf16 } = decode(readBytes(path, from), from)
  const variables = Object.entries(parseEnv(text)).flatMap(([variable, value]) =>
    value === undefined || value === '' ? [] : [{ from, name: nameIn(variable), value }],
  )
  return { from, variables, differs: isUtf16 ? 'is UTF-16' : undefined }
}

/** Node 20 takes a line without `=` as the beginning of the next variable's name. */
function nameIn(lines: string): string {
  return lines
    .slice(lines.lastIndexOf('\n') + 1)
    .replace(/^\s*export\s+/, '')
    .trim()
}

/** Empty if it does not exist or is a folder. */
function readBytes(path: string, displayed: string): Uint8Array {
  try {
    const kind = statSync(path, { throwIfNoEntry: false })
    if (kind === undefined || kind.isDirectory()) return new Uint8Array()
    // A pipe or a device may never end.
    if (!kind.isFile()) throw new CliError(`cannot read ${displayed}: it is not a file`)
    return readFileSync(path)
  } catch (error) {
    if (!isSystemError(error)) throw error
    if (error.code === 'ENOENT' || error.code === 'EISDIR') return new Uint8Array()
    throw systemError(`cannot read ${displayed}`, error)
  }
}

/** Windows PowerShell writes UTF-16. Throws `CliError` for other encodings, since a value that is read wrongly is not found in a build. */
function decode(bytes: Uint8Array, from: string): { text: string; isUtf16: boolean } {
  const [first, second] = bytes
  const isLittle = first === 0xff && second === 0xfe
  const isUtf16 = isLittle || (first === 0xfe && second === 0xff)
  const encoding = isUtf16 ? (isLittle ? 'utf-16le' : 'utf-16be') : 'utf-8'
  const text = new TextDecoder(encoding).decode(bytes)
  if (text.includes('\0') || (isMisread(bytes, encoding) && misread(text) !== undefined)) {
    const name = misread(text)?.replaceAll(MISREAD, '') ?? ''
    const at = /^[A-Z][A-Z\d_]{0,63}$/.test(name) ? ` at ${name}` : ''
    throw new CliError(
      `cannot read ${from}${at}: it is neither UTF-8 nor UTF-16 with a byte order mark: save it as UTF-8`,
    )
  }
  return { text, isUtf16 }
}

const MISREAD = /[\0\ufffd]/g

/** The name of the first variable that was not decoded. Comments do not matter. */
function misread(text: string): string | undefined {
  return Object.entries(parseEnv(text)).find((variable) => variable.join('=').search(MISREAD) >= 0)?.[0]
}

function isMisread(bytes: Uint8Array, encoding: string): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes)
    return false
  } catch {
    return true
  }
}
