/* How full a cell, a D1 database, may become. */

/** A cell of this size or more takes no new accounts: those it has still grow. */
export const fullCellBytes = (maxBytes: number): number => 0.7 * maxBytes

/** In the choice of a cell, sizes within the same hundredth of the maximum count as equal. */
export const cellSizeStep = (maxBytes: number): number => maxBytes / 100

/** Whether a size differs from the stored one by 1 % or more, and is worth a write. */
export const isNewCellSize = (stored: number | null, sizeBytes: number): boolean =>
  stored === null || (sizeBytes !== stored && Math.abs(sizeBytes - stored) >= stored / 100)
