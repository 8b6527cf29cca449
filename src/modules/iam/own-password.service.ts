import { Injectable } from '@nestjs/common';
import type { Principal } from '../../platform/auth/principal';
import { conflict, forbidden, invalid } from '../../platform/errors/domain-error';
import type { Message } from '../../platform/http/answers';
import { DirectoryRepository } from './directory.repository';
import type { ChangePassword } from './dto/account.dto';
import { LoginLimiter } from './login-limiter';
import { hashPassword, passwordMatches } from './passwords';
import { SessionChanges } from './session-changes';
import { SessionsRepository, sessionsOf } from './sessions.repository';

/** The change of one's own password. */
@Injectable()
export class OwnPasswordService {
  constructor(
    private readonly changes: SessionChanges,
    private readonly directory: DirectoryRepository,
    private readonly sessions: SessionsRepository,
    private readonly limiter: LoginLimiter,
  ) {}

  /** A wrong current password counts as a failed login: a stolen session must not be a way to guess it. */
  async change(principal: Principal, body: ChangePassword, address: string): Promise<Message> {
    const oldHash = await this.localHash(principal);
    if (body.new_password === body.current_password) {
      throw invalid('PASSWORD.UNCHANGED', 'The new password is the current one. Choose another.');
    }
    await this.limiter.assertAllowed(principal.username, address);
    if (!(await passwordMatches(oldHash, body.current_password))) {
      await this.limiter.countFailure(principal.username, address);
      throw forbidden('PASSWORD.WRONG', 'The current password is wrong.');
    }
    // Of many guesses at once only those that end before the limit is reached learn whether they were right.
    await this.limiter.assertAllowed(principal.username, address);
    const newHash = await hashPassword(body.new_password);
    const answer = await this.changes.run(sessionsOf(principal.userId), async (tx) => {
      if (!(await this.directory.replacePassword(tx, principal.userId, oldHash, newHash))) {
        throw conflict('PASSWORD.CHANGED_MEANWHILE', 'The password was changed by another request at the same time.');
      }
      await this.sessions.endAllOf(tx, principal.userId, principal.sessionId);
      return { message: 'The password is changed. Every other session and personal token of yours has ended.' };
    });
    await this.limiter.clear(principal.username);
    return answer;
  }

  private async localHash({ userId }: Principal): Promise<string> {
    const user = await this.directory.userById(userId);
    if (user?.directory === 'local' && user.password_hash !== null) return user.password_hash;
    throw conflict('DIRECTORY.EXTERNAL', 'Another directory holds the password of this account. Change it there.');
  }
}
