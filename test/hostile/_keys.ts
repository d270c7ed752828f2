/** Keys of no value outside these tests: the server under attack is built before anything listens that could serve them. */

export const ISSUER = 'https://issuer.example'
export const AUDIENCE = 'https://hostile.example/mcp'

export const PUBLIC_KEY = {
  kty: 'EC',
  x: 'RDl7QdOU3mseJmbwvAw0sFcUVkxbnBPv8MRATj6Wj84',
  y: '_LyN4QiYpFw7_a3C-dtHj7z6BEG2MGAUHS8IDGuIujo',
  crv: 'P-256',
  kid: 'hostile',
  alg: 'ES256',
  use: 'sig',
}

export const PRIVATE_KEY = {
  kty: 'EC',
  x: 'RDl7QdOU3mseJmbwvAw0sFcUVkxbnBPv8MRATj6Wj84',
  y: '_LyN4QiYpFw7_a3C-dtHj7z6BEG2MGAUHS8IDGuIujo',
  crv: 'P-256',
  d: '22W1NlHnoleOE8MrluWTKd7R6lWZQylfIp1BdzsHUjk',
  kid: 'hostile',
  alg: 'ES256',
}
