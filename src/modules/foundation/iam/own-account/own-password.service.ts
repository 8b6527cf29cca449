import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { conflict, forbidden, invalid } from '../../../../platform/kernel/errors/domain-error';
import type { Message } from '../../../../platform/kernel/dto/response-fields';
import { clientNetwork } from '../../../../platform/http/client-network';
import { LoginLimiter } from '../login/login-limiter';
import { SessionChanges } from '../sessions/session-changes';
import { SessionsRepository, sessionsOf } from '../sessions/sessions.repository';
import { DirectoryRepository } from '../users-and-groups/directory.repository';
import { hashPassword, partyOf, passwordMatches } from '../users-and-groups/passwords';
import type { ChangePassword } from './dto/account.dto';

@Injectable()
export class OwnPasswordService {
  constructor(
    private readonly changes: SessionChanges,
    private readonly directory: DirectoryRepository,
    private readonly sessions: SessionsRepository,
    private readonly limiter: LoginLimiter,
  ) {}

  /** A wrong current password counts as a failed login, so that a stolen session cannot be used to guess it. */
  async change(principal: Principal, body: ChangePassword, address: string): Promise<Message> {
    const oldHash = await this.localHash(principal);
    if (body.new_password === body.current_password) {
      throw invalid('PASSWORD.UNCHANGED', 'The new password equals the current one. Choose a different password.');
    }
    const message = await this.limiter.attempt(
      { username: principal.username, network: clientNetwork(address) },
      async () =>
        (await passwordMatches(() => Promise.resolve(oldHash), body.current_password, partyOf(principal)))
          ? oldHash
          : null,
      (verifiedHash) => this.replace(principal, verifiedHash, body.new_password),
    );
    if (!message) throw forbidden('PASSWORD.WRONG', 'The current password is wrong.');
    return message;
  }

  private async replace(principal: Principal, oldHash: string, newPassword: string): Promise<Message> {
    const { userId, sessionId } = principal;
    const newHash = await hashPassword(newPassword, partyOf(principal));
    return this.changes.run(sessionsOf(userId), async (tx) => {
      if (!(await this.directory.replacePassword(tx, userId, oldHash, newHash))) {
        throw conflict(
          'PASSWORD.CHANGED_MEANWHILE',
          'Another request changed the password at the same time. Log in again with the new password.',
        );
      }
      await this.sessions.endAllForUser(tx, userId, sessionId);
      return { message: 'Your password is changed. All your other sessions and personal tokens have ended.' };
    });
  }

  private async localHash({ userId }: Principal): Promise<string> {
    const user = await this.directory.userById(userId);
    if (user?.directory === 'local' && user.password_hash !== null) return user.password_hash;
    throw conflict('DIRECTORY.EXTERNAL', 'The password of this account is kept in another directory. Change it there.');
  }
}
