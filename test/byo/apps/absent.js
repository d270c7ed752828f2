/** For Nest's optional packages, which wrangler does not leave out. */
export default undefined
