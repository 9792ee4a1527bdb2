"""Fits the forest that says how likely a place is meant (src/predictors/evidence/forest.txt).

    nudge replay --git A --git B ... --limit 100 --dump asks.jsonl
    python3 fit.py asks.jsonl > ../src/predictors/evidence/forest.txt

Take repositories that results are not reported on; dumps of several seeds may be put into one file. `must.json` has what
tests of the crate demand and histories are silent on, as so many commits that have it. It wants numpy and scikit-learn 1.9.
On standard error it says how right the forest is for repositories that it has not seen: precision and recall as `nudge
replay` has them, by the bar.
"""

import collections
import json
import pathlib
import sys

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction import DictVectorizer

FOLDS = 5
FITTED = ("repeat", "move")
# What does a part of a hunk is not as good as what does all of it.
PARTIAL = 0.7
SETTINGS = dict(
    max_iter=300, max_leaf_nodes=16, learning_rate=0.05, l2_regularization=10, min_samples_leaf=60, random_state=1
)
# More of the first never makes a place less likely, more of the second never more likely.
RISES = "at cursor|support|examples|left|right|similar|same line|alone|done here|hard|block support 2|block support 3|block above|block below|analogy same|analogy same gone|analogy support"
FALLS = "block different|residue|passed|age|soft different|comment differs|spread|sooner|matches|from example|quoted differs|analogy holes|analogy dropped|analogy others"
DIRECTION = {name: 1 for name in RISES.split("|")} | {name: -1 for name in FALLS.split("|")}


def read(path):
    """The questions after a hunk and before the next one, in order."""
    with open(path, encoding="utf-8") as lines:
        asks = [json.loads(line) for line in lines]
    return [ask for ask in asks if ask["mode"] in ("hunk", "came")]


def new_model(names):
    return HistGradientBoostingClassifier(monotonic_cst=[DIRECTION.get(name, 0) for name in names], **SETTINGS)


def main(path):
    asks = read(path)
    rows = [(number, one) for number, ask in enumerate(asks) for one in ask.get("considered", [])]
    commit = [(asks[number]["repo"], asks[number]["commit"]) for number, _ in rows]
    is_fitted = np.array([one["predictor"] in FITTED for _, one in rows])
    worth = np.array([{"exact": 1.0, "partial": PARTIAL, "wrong": 0.0}[one["outcome"]] for _, one in rows])
    count = collections.Counter(commit)
    # A commit with many places does not count as much more than one with few.
    weight = np.array([count[key] ** -0.7 for key in commit])
    vectors = DictVectorizer(sparse=False)
    evidence = [one["evidence"] if fitted else {} for (_, one), fitted in zip(rows, is_fitted)]
    matrix = vectors.fit_transform(evidence).astype(np.float32)
    names = list(vectors.get_feature_names_out())

    repos = sorted({repo for repo, _ in commit})
    fold = np.array([repos.index(repo) % FOLDS for repo, _ in commit])
    scores = np.array([one["confidence"] for _, one in rows])
    for number in range(FOLDS):
        train, test = is_fitted & (fold != number), is_fitted & (fold == number)
        if test.any():
            model = fit(names, matrix[train], worth[train], weight[train])
            scores[test] = model.predict_proba(matrix[test])[:, 1]
    judge(asks, rows, scores)
    write(fitted(vectors, names, matrix[is_fitted], worth[is_fitted], weight[is_fitted]), names)


def fit(names, matrix, worth, weight):
    """What is worth a part counts as right by that part, and as wrong by the rest."""
    is_part = (worth > 0) & (worth < 1)
    both = np.vstack([matrix, matrix[is_part]])
    right = np.append(worth > 0, np.zeros(is_part.sum())).astype(int)
    weights = np.append(weight * np.where(is_part, worth, 1), (weight * (1 - worth))[is_part])
    return new_model(names).fit(both, right, sample_weight=weights)


def fitted(vectors, names, matrix, worth, weight):
    """The model of all that was seen, and of what must be."""
    must = json.loads((pathlib.Path(__file__).parent / "must.json").read_text(encoding="utf-8"))
    matrix = np.vstack([matrix, vectors.transform([case["evidence"] for case in must]).astype(np.float32)])
    worth = np.append(worth, np.ones(len(must)))
    weight = np.append(weight, [case["weight"] for case in must])
    return fit(names, matrix, worth, weight)


def judge(asks, rows, scores):
    """Precision and recall by commit and repository, if the best of each question is shown from a bar on."""
    best = {}
    for at, (number, _) in enumerate(rows):
        if number not in best or scores[at] > scores[best[number]]:
            best[number] = at
    hunks = {}
    for ask in asks:
        key = (ask["repo"], ask["commit"])
        hunks[key] = max(hunks.get(key, 0), ask["step"] + ask["remaining"])
    for bar in (0.3, 0.4, 0.5, 0.55, 0.6, 0.7, 0.8):
        shown = collections.defaultdict(list)
        for number, at in best.items():
            if scores[at] >= bar:
                shown[(asks[number]["repo"], asks[number]["commit"])].append(rows[at][1]["outcome"])
        precision, recall = collections.defaultdict(list), collections.defaultdict(list)
        for key, total in hunks.items():
            verdicts = shown.get(key, [])
            recall[key[0]].append(verdicts.count("exact") / total)
            if verdicts:
                precision[key[0]].append(1 - verdicts.count("wrong") / len(verdicts))
        mean = lambda by_repo: 100 * np.mean([np.mean(values) for values in by_repo.values()])
        print(f"{bar:.2f}: precision {mean(precision):.1f} %, recall {mean(recall):.1f} %", file=sys.stderr)


def write(model, names):
    trees = [predictor[0].nodes for predictor in model._predictors]
    used = sorted({int(node["feature_idx"]) for tree in trees for node in tree if not node["is_leaf"]})
    number = {feature: at for at, feature in enumerate(used)}
    print("|".join(names[feature] for feature in used))
    print(f"{model._baseline_prediction.ravel()[0]:.4f}")
    for tree in trees:
        print(" ".join(text(node, number) for node in tree))


def text(node, number):
    if node["is_leaf"]:
        return f"{node['value']:.4f}"
    feature = number[int(node["feature_idx"])]
    return f"{feature}<{node['num_threshold']:.5g}:{node['left']}:{node['right']}"


if __name__ == "__main__":
    main(sys.argv[1])
