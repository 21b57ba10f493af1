"""Rankings of the passages of a page against readers' votes, and against judgements of relevance.

python examples/trivia_to_rows.py crowd_judged.tsv votes.jsonl
postil corpus import trec --qrels 2019qrels-pass.txt --collection dl2019_document.jsonl.gz --out search.jsonl
python -m bench.interest.run --votes votes.jsonl --search search.jsonl [--vectors FOLDER]
python -m bench.interest.run --rated bench/interest/rated/sentences.csv
"""
