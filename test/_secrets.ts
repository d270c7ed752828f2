/** Secrets of tests: random enough to be accepted, and told apart by their name. */

/** 32 or more characters without blanks. */
export const secretOf = (name: string): string => `${name}-4nT9qLw2rB7vK1mZ8cJ5xD6fYh3sGp`

export const SECRET: string = secretOf('secret')

/** What no place that takes a secret may accept, though it is long enough. */
export const WEAK_SECRETS: { readonly [kind: string]: string } = {
  'one character': 's'.repeat(40),
  blanks: ' '.repeat(40),
  'two characters': 'ab'.repeat(20),
  'a word again and again': 'correct-horse-'.repeat(4),
  'digits in their order': '123456789'.repeat(5),
  'a word again and again, cut': 'changemechangemechangemechangemecha',
}
