// What is wrong with a file that is not CSV, or with a row of it. Loaded with the screens that read or show files.
export const csv = {
  openQuote: line => `Line ${line}: a quotation mark (") begins a cell and has no closing one. Delete it or close it, save the file, and choose it again.`,
  afterQuote: line => `Line ${line}: text follows a closing quotation mark ("). Double each quotation mark within the cell, save the file, and choose it again.`,
  longQuote: line => `Line ${line}: a cell in quotation marks (") has more than 1,048,576 characters. Add the closing one or shorten the cell, save the file, and choose it again.`,
  longCell: line => `Line ${line}: a cell has more than 1,048,576 characters. Shorten it, save the file, and choose it again.`,
  manyCells: line => `Line ${line}: a row has more than 16,384 cells. Check its separators, save the file, and choose it again.`,
  rowTooLarge: number => `Row ${number} is larger than 15 MiB. Cancel this import, shorten the row in the file, and import the file again.`,
  surplusField: "more cells than columns",
  surplus: "The row has more cells than the header. In the file, put quotation marks around a cell that has a separator in it",
  surplusHint: "The row has more cells than the header, so values may be in the wrong fields or missing. Compare each of them with the file.",
}
