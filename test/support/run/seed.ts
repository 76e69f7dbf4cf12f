import fc from 'fast-check'

/* `MODEL_SEED=n` gives property tests the seed of the run to be repeated. */

const { MODEL_SEED } = process.env
if (MODEL_SEED !== undefined) fc.configureGlobal({ seed: Number(MODEL_SEED) })
