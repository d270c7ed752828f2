/** Of the only caller of these servers. */
export const TOKEN = 'a-token-of-thirty-two-characters'
