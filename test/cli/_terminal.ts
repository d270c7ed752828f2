/** What a terminal takes for more than text. A line ends with a line feed, and that is all. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
export const STEERING = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u
