/**
 * Genuine tokens, fixed here so that every run mutates the same ones. The secrets and keys they were made with are used nowhere
 * else, and the private keys are not kept.
 */

export const SECRET = 'of-no-value-outside-the-fuzzing-of-mayfly'

/** Tokens of `createSeal([SECRET], 'fuzz')`, valid until 2100, except `expired`; `otherSecret` was made with another secret. */
export const SEALED = {
  small:
    '1.12E_9MshIrVNbjL1vLnbgCImIrb9iujKFaa-7afMUt93B0_e1bBZJSqjXomiYAHAIlYsH2vPZTdCXNXtvZuFejs12gJTiqm0MATCHe8BBpX5Pudy2Sf1T0nJ_dOoxk4q4zCiRG-MSAKTbtpYRvaPolMofvhok7dzDx5yMaUGa2sqEIaNZjq3Rh2f6WJNIBL7c8IO64oaMl-WDlnlWmRm2Xu2cc0F-hm-jO6JWwmpP7bCN3G2sXWPrT9f3r8KnB0t6qlT3Mhfh54CR7u1XDMK4uAMriW0bJPTFosFi4IW5nGu6i1bMsdPNklpGuGjzQ-f',
  deflated:
    '1.12E_9FTX1TIgy-kIAAAc0WKz_8WWJ-NUTPeOUaNU66R93qucfS_WxQbtbRQkyhA-HiJx1a1rhijF3AkRDsu4vskb-EtKkiW8JQ_NYiMQLtW_sN1TODk2u-j_VLgYZn-jsS5RcdjofTEd5riVsq-APsO6VJKel-S_9vjOwVNG1fh8_yd4pkTiW2cdrzjNZ1KTwrC29egxenJnay_fdTgP82M4MeMPSCOOGCBK5vfn8hE5NU5aLeIt2BY6NvID36M0cC-Okg',
  foreign:
    '1.12E_9A5iIChgTCvjidydBnVNVGo-L71so1VL4IYPtsQFHZrPLfIMPubMrEBMljdcKLQ4NkePCKGbFI9nhZlYQjnXkS3AmraFoYA-6rVxpuYHLQgbPb2cexkroOeWTaA6UIHgOv6Q65m110iehJ78oaFPFE3vp7pd5kB9oMOC8qamxzU5rRTgHF5ix5oSnNnc5VIXjuaNy60DtlyR1FIFYBRK2TrXloFGyT1yeU1E-SU7hQX_EG9j-2ScnsPn',
  principal:
    '1.12E_9KIrWSZApJDPZm7W6X6-JFMz3ywOaBmyIQEmoI2wzlXEr95u4O2gQ9bIS8A__VSZlHDhnnJYbgMsjtfnSDcHaGWy2_dtVCugFW-PXJ_Euo740pj-4QqfI29_kIQyfBVsbM1gW4ABj-sdk85vFPxqRCWTOZJ1GfwRrCR50XbhaYugdA-Ne3JoFYFInQp66xrPVPd93thxBDvJAaQ4Uvzu2dfe79JSrlkw0Tiu1VFCwpJxkSsO0OD42Km_6uhjOcV9utg',
  expired:
    '1.12E_9IC8z5lrGz9J66x13--oLAI3b7HXiJpMmkPmd0HmICOqTuDwBfIxc21KwAZ1injO59QwkhcAlEM7IN3ACsK-romSVPMLV9WQ9OpS1HBFZuyanN-dmAJjbIlABu2hBgW4t91W-FOHNIAqy80Pm6K_K99CnFfptg3HaNcD7j7seSCDieBhkGxHvD6gqie5kKR0p5vp48Q3PEegHhvuRSoZAy0a4plwWsOUjp27_qSbfvuE',
  otherSecret:
    '1.WYStbP-i_VYG2zXEgBbX7gGBkNzn3Ua3F8R7UlKze3Kr6vOwOW9WNdAJPR4i1uw3mEfh2PK9XEJxQxdT-lel3WuiT1DD2Fo6fGmvckBFezY1qGscraAJM1W4CbwMvMHVU2gSg_TBa6tHHZvUNECbtaEVywnj3ItBEFDp-b0i1oT5gZ5ESJ0c',
  /** For a legacy call. */
  continued:
    '1.12E_9C0H7dYaHpIxJKegSENl90-RcTzLQlMfnhdQ8faVtZC-FBnoKBF-pzeuuobXMe2hYk2zEFWLQVWAweWnnlp7Qzct1XnFBIAWraLMBeoG3bOtUubrUnse2FdIkyzR2va5k4n2WGFBsQnijc4akA-xltRoXEZb2WsMSQwImcMsTwjoy2gE6YSeLYTmkZd8X_awSfzsMrPY-8qYNOBuEh5c8uRPJ53aAU5uC7h8aa6Ob-vqExfEUVUDu9cX',
  session:
    '1.12E_9HDulV5vqW-M12LjQuv_Hu1DUzpYYaa3cFmId7z1Z9AAITln9bh312mnIHYQg_EEv-p6hCXz3lMfc-yDZKQF2zeN8xjD3Bq26jx9lG3qe9CwNbayDD1f7VJBF52vDUrI5taHr7nBm8bQjC_hEOVZeJDo4BmAmI2WmWIZVeEHmd_Lj_4lElJi65RjiHDlFy1Fd6IZhlBBTCDMW4geYnB7HNzYlbkUEHDpuQB0D5RG-yc999xUk1ZUdKLc3H2uDKZ8Jho',
}

/** What `SEALED.small` and `SEALED.deflated` are bound to. */
export const BINDING = {
  era: 'modern',
  method: 'tools/call',
  target: 'ask',
  arguments: { to: 'bob' },
  principal: '',
} as const

/** Audience and issuer of the tokens of `JWTS`. */
export const ISSUER = 'https://issuer.example'
export const AUDIENCE = 'https://fuzz.example/mcp'

export const JWKS = {
  keys: [
    {
      kty: 'EC',
      x: 'QAJJ2OuTlxtesg7Kgywi7OgB-L3es0x3vcIKqYNTeSQ',
      y: 'ikxcCANaUj5sB2sHfcoAU_3ShFjEgZ82y0qgVezpnmw',
      crv: 'P-256',
      kid: 'es256',
      alg: 'ES256',
      use: 'sig',
    },
    {
      kty: 'RSA',
      n: 'i7GrLJQox3F4SV-au50J3wqQYkT5z8vD8pvv0iwtpvQ7fGDEshsL5OFvdPNENGz2Y2UKZIM9xfeaxhyYP3omCNfhLu214ul7bZbz0t8QmOUMUDjELNnTsM9altBlY54Tlp6X6dMp6daDM5ijyj3r7UNfCryWAB_j5PMaGTc5EBgFrz2x4TUdQQVazFlrPM5mnQw5XWKv6r0AKmjn9wI8o8VDPyzztDtCqwcuEpOEhJhBluu9gMv0KQ3CqXi9lQOFQof2xiXMI16GP1N3VoPH6dXMAdkaSw2hQkj5Ym6auf7wZ7dFP5MDm3vwY6N7TrQXHova5asoVKn1vc4blKImtw',
      e: 'AQAB',
      kid: 'rs256',
      alg: 'RS256',
      use: 'sig',
    },
    {
      crv: 'Ed25519',
      x: 'P-Hp1DS_xLVt1q_2PxxtF50xnDMfJCUfcBS4oiU3v_Q',
      kty: 'OKP',
      kid: 'eddsa',
      alg: 'EdDSA',
      use: 'sig',
    },
  ],
}

/** Valid until 2100, with the scope `shop`; the RS256 one also with `admin`. */
export const JWTS = {
  ES256:
    'eyJhbGciOiJFUzI1NiIsImtpZCI6ImVzMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoiaHR0cHM6Ly9mdXp6LmV4YW1wbGUvbWNwIiwic3ViIjoiYW5uIiwiY2xpZW50X2lkIjoiZGVzayIsInNjb3BlIjoic2hvcCIsImV4cCI6NDEwMjQ0NDgwMH0._QSYcwz2fmAUd3XPBM4ecICMmm7_z-SW5_5v6EbS8GicCVh8qvR8UxugwlxKlA8kNjtUEAPWX1oJf_XcPxLY2g',
  RS256:
    'eyJhbGciOiJSUzI1NiIsImtpZCI6InJzMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoiaHR0cHM6Ly9mdXp6LmV4YW1wbGUvbWNwIiwic3ViIjoiYW5uIiwiY2xpZW50X2lkIjoiZGVzayIsInNjb3BlIjoiYWRtaW4gc2hvcCIsImV4cCI6NDEwMjQ0NDgwMH0.hJaLbTSWwcnv0u87LQ83-KE5bGxk5CnMiKUuky4cgy113fOE-DN39MOo_Dk1rKOdgbENIrHgEiWcZyV8f4Qd554yDwBQ9lkVsW-JdijtDJOhVVK2XyReF4dmlQG0MTeCzn9WGw6bifbXj050RqnuLQOfEEOM93ubtzo9AnZJg-n7gx_3aKIhjiM3Grhrb1T8j51fAbdnd31ZB0CeGCtnReEeHbkZHLPKxb8mfYn459GQRPdstw9nK7z9_mQ5p-sfrSiPjx_yMdjTtVU5U58uDEOPlLGgK9nLFBs-bdjKDonXa10bg38uC4SNZHS4SwIYRXqjVWYA6U79q0eympwZKQ',
  EdDSA:
    'eyJhbGciOiJFZERTQSIsImtpZCI6ImVkZHNhIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoiaHR0cHM6Ly9mdXp6LmV4YW1wbGUvbWNwIiwic3ViIjoiYW5uIiwiY2xpZW50X2lkIjoiZGVzayIsInNjb3BlIjoic2hvcCIsImV4cCI6NDEwMjQ0NDgwMH0.MxYLnfg_coayQbAvCfwO_Bt56PaV7L9qVEmaVJoU3RWxRET-PmO2iCPxHNhXW4xQ2i2EIQnBILMxAXl0jbQCCA',
}
