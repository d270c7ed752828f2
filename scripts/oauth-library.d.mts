export const OAUTH_LIBRARY: string
export const oauthLibrary: {
  name: string
  transform: {
    filter: { id: RegExp }
    handler(code: string): { code: string; map: null }
  }
}
