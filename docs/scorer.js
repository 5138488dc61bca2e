/* Methods of frames come first, then those of groups and windows; pages of other kinds keep their order. */
var Scorer = {
  score: ([page, title, anchor, description, score, file]) => {
    if (/\.Gpuscan\.\w+$/.test(title)) return score + 20;
    if (/\.(GroupBy|Rolling|Expanding|Ewm|Resampler)\.\w+$/.test(title)) return score + 10;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
