/** An issuer of tokens for the case `jwt`. Its keys are of this run alone, and are written into the servers: nobody fetches them. */
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { AUDIENCE, ISSUER } from '../features/features.ts'

export interface Issuer {
  readonly keys: { readonly keys: readonly JWK[] }
  /** For an hour. */
  readonly token: string
}

export async function createIssuer(): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const key = { ...(await exportJWK(publicKey)), kid: 'bench', alg: 'ES256', use: 'sig' }
  const token = await new SignJWT({ scope: 'bench', client_id: 'bench' })
    .setProtectedHeader({ alg: 'ES256', kid: 'bench', typ: 'at+jwt' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject('somebody')
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey)
  return { keys: { keys: [key] }, token }
}
