import type { DataSource } from 'typeorm';
import { Params } from '../../kernel/persistence/sql';

/** Questions that are asked within this time share a statement, because timers of one tick do not end at the same moment; milliseconds. */
const JOIN_MS = 20;
/** Time after which a question counts as answered with yes, milliseconds. */
const ANSWER_TIMEOUT_MS = 1_000;

/** Returns a condition in SQL, whose values it adds to the parameters. */
export type Condition = (params: Params) => string;

/** Asks whether a condition holds. */
export type Ask = (condition: Condition) => Promise<boolean>;

interface Question {
  condition: Condition;
  resolve: (answer: boolean) => void;
}

/**
 * Asks PostgreSQL whether conditions hold. Those that are asked at about the same time share a statement. The answer is yes if the
 * statement fails or takes long, because the conditions of the others may be the reason.
 */
export class WorkQuestions {
  private questions: Question[] = [];
  /** Number of statements that were not answered in time and still run. */
  private late = 0;

  constructor(private readonly dataSource: DataSource) {}

  ask(condition: Condition): Promise<boolean> {
    if (this.late > 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      if (this.questions.length === 0) setTimeout(() => void this.askAll(), JOIN_MS);
      this.questions.push({ condition, resolve });
    });
  }

  private async askAll(): Promise<void> {
    const { questions } = this;
    this.questions = [];
    const answerAll = (answers: readonly boolean[] | null) => {
      for (const [index, { resolve }] of questions.entries()) resolve(answers?.[index] ?? true);
    };
    let isLate = false;
    const timeout = setTimeout(() => {
      isLate = true;
      this.late += 1;
      answerAll(null);
    }, ANSWER_TIMEOUT_MS);
    try {
      const params = new Params();
      const columns = questions.map(({ condition }) => condition(params)).join(', ');
      const [row] = await this.dataSource.query<{ answers: boolean[] }[]>(`SELECT ARRAY[${columns}] AS answers`, [
        ...params.values,
      ]);
      answerAll(row?.answers ?? null);
    } catch {
      // Each pass then finds the fault itself, and reports it.
      answerAll(null);
    } finally {
      clearTimeout(timeout);
      if (isLate) this.late -= 1;
    }
  }
}
