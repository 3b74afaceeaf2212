package form

import "strings"

// nearest gives the known word that was most likely meant by word, or "".
// Words that differ in case, hyphens, underscores and spaces alone are the same;
// otherwise one slip is allowed for every three letters.
func nearest(word string, known []string) string {
	if len(word) > 100 {
		return "" // nobody's slip, and costly to compare
	}
	best, least := "", len(word)/3+1
	plain := plainWord(word)
	for _, k := range known {
		other := plainWord(k)
		if other == plain {
			return k
		}
		if max(len(other)-len(plain), len(plain)-len(other)) >= least {
			continue
		}
		if d := slips(plain, other, least); d < least {
			best, least = k, d
		}
	}
	return best
}

// plainWord is word without case and what separates words: minLength, min-length
// and min_length are one.
func plainWord(word string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(word))
}

// slips counts the letters inserted, left out, replaced, and the neighbours
// exchanged between a and b (optimal string alignment). Once there are too many it
// does not count on.
func slips(a, b string, tooMany int) int {
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, prev, row = prev, row, before
		row[0] = i
		fewest := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			fewest = min(fewest, row[j])
		}
		if fewest > tooMany {
			return fewest
		}
	}
	return row[len(b)]
}
