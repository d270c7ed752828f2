/** What this almanac knows: a few rivers, a few mayflies, and a forecast that needs no network. */

export const REGIONS = ['chalk-streams', 'alpine', 'tisza', 'baltic'] as const
export type Region = (typeof REGIONS)[number]

export interface Species {
  name: string
  /** Months it hatches in, 1 to 12. */
  season: readonly number[]
  bodyMm: number
  note: string
}

export const SPECIES: { readonly [id: string]: Species } = {
  'baetis-rhodani': {
    name: 'Large dark olive',
    season: [3, 4, 10],
    bodyMm: 9,
    note: 'The first of the year: drifts down cold rivers around noon and makes trout look up again.',
  },
  'ephemera-danica': {
    name: 'Green drake',
    season: [5, 6],
    bodyMm: 20,
    note: 'Two years in the silt, one day in the air. Males dance over the hedges at dusk.',
  },
  'palingenia-longicauda': {
    name: 'Long-tailed mayfly',
    season: [6],
    bodyMm: 35,
    note: 'Three years as a nymph, then a few hours: the Tisza "blooms" when millions hatch at once.',
  },
  'serratella-ignita': {
    name: 'Blue-winged olive',
    season: [6, 7, 8, 9],
    bodyMm: 8,
    note: 'A summer evening fly. Carries her eggs as a small green ball while she flies upstream.',
  },
  'ephoron-virgo': {
    name: 'August mayfly',
    season: [8],
    bodyMm: 14,
    note: 'White as snow, and swarms like it around every lamp near the water.',
  },
}

export const MONTHS =
  'January February March April May June July August September October November December'.split(' ')

const MEAN_TEMPERATURE: { readonly [R in Region]: number } = {
  'chalk-streams': 11,
  alpine: 7,
  tisza: 14,
  baltic: 10,
}

export type Hatch = 'none' | 'sparse' | 'good' | 'spectacular'

export interface Forecast {
  region: Region
  date: string
  waterCelsius: number
  hatch: Hatch
  species: string[]
}

/** The forecast for one evening, `date` as in 2026-06-15. The same question always gets the same answer. */
export function forecast(region: Region, date: string): Forecast {
  const month = Number(date.slice(5, 7))
  const day = Number(date.slice(8, 10))
  // Warmest in July, and a little weather on top.
  const swing = 7 * Math.cos(((month - 7) / 6) * Math.PI) + Math.sin(day * 2.4) * 1.5
  const waterCelsius = Math.round((MEAN_TEMPERATURE[region] + swing) * 10) / 10
  const flying = Object.entries(SPECIES).filter(([, { season }]) => season.includes(month))
  return {
    region,
    date,
    waterCelsius,
    hatch: hatchOf(waterCelsius, flying.length),
    species: flying.map(([id]) => id),
  }
}

function hatchOf(waterCelsius: number, kinds: number): Hatch {
  if (kinds === 0 || waterCelsius < 6) return 'none'
  if (waterCelsius < 10) return 'sparse'
  return waterCelsius > 16 && kinds > 1 ? 'spectacular' : 'good'
}

/** Today in UTC, as in 2026-06-15. */
export function today(): string {
  return new Date().toISOString().slice(0, 10)
}
