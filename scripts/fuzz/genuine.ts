/**
 * Tokens that are genuine, written down so that every run mutates the same ones. The secrets and the keys they were made with are
 * of no value, and the private keys are not kept.
 */

export const SECRET = 'of-no-value-outside-the-fuzzing-of-mayfly'

/** Tokens of `createSeal([SECRET], 'fuzz')`, good until 2100 but for `expired`; `otherSecret` is of a secret that it does not have. */
export const SEALED = {
  small:
    '1.12E_9LM_fmPpy5cgsFBhZtL7ZkLMfZDHdxttJl8YeaMteWfRQDzFyXBY3cn-Jra-OTp8RiyVif63LjcODlKbsP2qZQ3_PSRW9bqJvYRPWDY7mpmmaq4XadOjWiR6ML-ROAE9RB0iAK0KeXua93pj5Q7YOFrqsjT8WRauFqJxzQtWMqgR1IlZKiY0YkKKrxRGxTv5lf1dK_wW9l7qFln3dgocMykOaNI0Lj0Y90IaRXRuxdcDQAYpVWYRyw',
  deflated:
    '1.12E_9Mh4x8OvyXRsR4m53exIF5KDyF30fG0twm5eLhA-VhUGbGI5I4KzQ3WY16HT76ITooTTquaE0mziTCm1rKikd1WIaurFTaJqzNzyiQFuXr-TeJgXdUByXuKMoIJr1FKrLOXpO6cNpsiXE4KUAx-G-i8RQjhSbtu4ii4K2iojW5ssqTbk9TgdB7MQq07Mm-yelUhiJDVYtiA4mgWhKZuu',
  foreign:
    '1.12E_9LzCo2aTrW2BNhLxtagsx2mvAwf-9Ku1aJrfS6GX1HeIVG1Vx9z2TrxFWVcZbIKhXC10g5LPS3v6qcKBh9KjadOmrgmFicERdy-eCjkoOhRdqnFINibDsxW3eoKDiNPbr8AcQ6nwKtnCRQLuqa0gkcMJem6Py1U1_VQPMCGg-ZFcF-ykKA',
  principal:
    '1.12E_9CYivURxPZvosiDhmNaGgpW4TYeCOAShPDjBt9Hth8-MIWtYLGmXSaT9leqI6icDNrZKoPSr46YKJLeaYELilvp_drYTDCu2oiKLVteAXt_zLjIZStaSQ5pHSTlyla3hU2hODBl5cln5wcVykxiXBJBn7WNmE9gBHMU3plQQZCW3FZt4pYZDv0wJyxqL',
  expired:
    '1.12E_9HRMPXLqxZ5DQupYV4rTg1eWq0bkwJTLptZakiLebS5SMZ3BWS_-qGwOdMSrsyNzCMLKPjqKENTygVQs157jckGY_z3kgpdjMDarKePb1wj1s6ObJD-_SSVLitRxLg45PYxRS2MsqYSAGzR3HEsBQN5Dxu0QZT_S6WY0vQ',
  otherSecret:
    '1.-JWxHM5BDY_CdA0jRn_qK-sceN5pud-urpwj4XcU9NBln_IDxUG3FUV8JKT8_MN_hnlPYfg1Hzgc9vgYdeeDBNH5k--2s_kqMfeQm_y3OuvwyCDqjXrdCV5OcKdhqtRlazOe8jorWNtG5h_JBstjlwC4fgxnGOoRxId3WYL9IxEN-VDpWnoEhQ',
  session:
    '1.12E_9HA50EMVo6RMolc4TgWhoxoRahQX3VjKuG85kA-cYJHiaQBA3tAna4DF1qmgUcwqu7RuBOTQr9wpdqP7-4_6xhHGspqfORclmSNZFqQ8I17p_ix60SPeyrbqH-jsZKBowr_ctDn9MKVd9kNOHP45bHvKa_H6aRfqpA9JVqmtQTumb2d4GOSM1m6o0b3m3SJ13NzpUvsMB8IGu9DCcv6a2NdBiw2eUfMxQzQvG2i4lALFlz3ZhoxqGKA',
}

/** What `SEALED.small` and `SEALED.deflated` are bound to. */
export const BINDING = {
  method: 'tools/call',
  target: 'ask',
  arguments: { to: 'bob' },
  principal: '',
} as const

/** Who the tokens of `JWTS` are for, and from. */
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

/** Good until 2100, with the scope `shop`; that of RS256 with `admin` as well. */
export const JWTS = {
  ES256:
    'eyJhbGciOiJFUzI1NiIsImtpZCI6ImVzMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoiaHR0cHM6Ly9mdXp6LmV4YW1wbGUvbWNwIiwic3ViIjoiYW5uIiwiY2xpZW50X2lkIjoiZGVzayIsInNjb3BlIjoic2hvcCIsImV4cCI6NDEwMjQ0NDgwMH0._QSYcwz2fmAUd3XPBM4ecICMmm7_z-SW5_5v6EbS8GicCVh8qvR8UxugwlxKlA8kNjtUEAPWX1oJf_XcPxLY2g',
  RS256:
    'eyJhbGciOiJSUzI1NiIsImtpZCI6InJzMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoiaHR0cHM6Ly9mdXp6LmV4YW1wbGUvbWNwIiwic3ViIjoiYW5uIiwiY2xpZW50X2lkIjoiZGVzayIsInNjb3BlIjoiYWRtaW4gc2hvcCIsImV4cCI6NDEwMjQ0NDgwMH0.hJaLbTSWwcnv0u87LQ83-KE5bGxk5CnMiKUuky4cgy113fOE-DN39MOo_Dk1rKOdgbENIrHgEiWcZyV8f4Qd554yDwBQ9lkVsW-JdijtDJOhVVK2XyReF4dmlQG0MTeCzn9WGw6bifbXj050RqnuLQOfEEOM93ubtzo9AnZJg-n7gx_3aKIhjiM3Grhrb1T8j51fAbdnd31ZB0CeGCtnReEeHbkZHLPKxb8mfYn459GQRPdstw9nK7z9_mQ5p-sfrSiPjx_yMdjTtVU5U58uDEOPlLGgK9nLFBs-bdjKDonXa10bg38uC4SNZHS4SwIYRXqjVWYA6U79q0eympwZKQ',
  EdDSA:
    'eyJhbGciOiJFZERTQSIsImtpZCI6ImVkZHNhIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoiaHR0cHM6Ly9mdXp6LmV4YW1wbGUvbWNwIiwic3ViIjoiYW5uIiwiY2xpZW50X2lkIjoiZGVzayIsInNjb3BlIjoic2hvcCIsImV4cCI6NDEwMjQ0NDgwMH0.MxYLnfg_coayQbAvCfwO_Bt56PaV7L9qVEmaVJoU3RWxRET-PmO2iCPxHNhXW4xQ2i2EIQnBILMxAXl0jbQCCA',
}
