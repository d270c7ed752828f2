/**
 * For rolldown and vitest: the OAuth library is written for Workers, and sign-in uses the part of it that runs anywhere. What the rest needs
 * of that platform, a class to compare with and a warning about fetches that sign-in makes itself, is taken out.
 */
const REPLACED = [
  [/^import \{ WorkerEntrypoint \} from "cloudflare:workers";$/m, 'const WorkerEntrypoint = class {};'],
  [
    /^if \(!\(typeof Cloudflare !== "undefined" && Cloudflare\.compatibilityFlags\?\.global_fetch_strictly_public === true\)\) console\.warn\(.*\);$/m,
    '',
  ],
]

export const OAUTH_LIBRARY = '@cloudflare/workers-oauth-provider'

export const oauthLibrary = {
  name: 'mayfly-oauth-library',
  transform: {
    filter: { id: /[\\/]workers-oauth-provider[\\/]dist[\\/]oauth-provider\.js$/ },
    handler(code) {
      return {
        code: REPLACED.reduce((text, [pattern, replacement]) => {
          if (!pattern.test(text)) throw new Error(`${OAUTH_LIBRARY} is not as expected: ${pattern}`)
          return text.replace(pattern, replacement)
        }, code),
        map: null,
      }
    },
  },
}
