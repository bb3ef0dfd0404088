create table if not exists authors (name text primary key, team text not null);
create table if not exists articles (id bigint generated always as identity primary key, title text not null, body text not null, author text references authors);
insert into authors values ('ada', 'support'), ('ben', 'finance') on conflict do nothing;
insert into articles (title, body, author) values
  ('Refunds', 'A refund above 500 is approved by the lead of finance. Below that any agent may grant it.', 'ben'),
  ('On call', 'Whoever is on call answers within ten minutes, and hands over at nine.', 'ada');
